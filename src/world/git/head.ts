import fs from 'node:fs'
import path from 'node:path'
import type { Place } from './place.ts'

const HASH = /^[0-9a-f]{40,64}$/

/** The commit that is checked out; null where there is none yet. git is asked only where refs are not in files of their own. */
export async function headOf({ git, repository }: Place): Promise<string | null> {
  const head = read(path.join(repository.gitDir, 'HEAD'))
  const branch = /^ref: (refs\/heads\/.+)$/.exec(head)?.[1]
  const commit = branch === undefined ? head : read(path.join(repository.commonDir, branch))
  if (HASH.test(commit)) return commit
  const answer = await git.ask(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])
  return answer.code === 0 ? answer.stdout.toString().trim() : null
}

function read(file: string): string {
  try {
    return fs.readFileSync(file, 'latin1').trim()
  } catch {
    return ''
  }
}
