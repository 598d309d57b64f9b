import fs from 'node:fs'
import path from 'node:path'
import type { Git } from '../git.ts'
import type { Repository } from '../repository.ts'

/** Whether this git writes down what it does, for each folder where that was tried. */
const known = new Map<string, boolean>()

/**
 * Where the git commands of a worker are written down: in the git folder, which it can write wherever it can commit. Null where git does
 * not do that (before 2.22).
 */
export async function traceFile(git: Git, { gitDir }: Repository, name: string): Promise<string | null> {
  const folder = path.join(gitDir, 'oneshot', 'traces')
  const isKnown = known.get(folder) ?? (await isTraced(git, folder))
  known.set(folder, isKnown)
  return isKnown ? path.join(folder, name) : null
}

async function isTraced(git: Git, folder: string): Promise<boolean> {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = path.join(folder, 'try')
  await git.ask(['version'], { env: { GIT_TRACE2_EVENT: file } })
  const isThere = fs.existsSync(file)
  fs.rmSync(file, { force: true })
  return isThere
}
