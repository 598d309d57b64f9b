import fs from 'node:fs'
import path from 'node:path'
import type { Git } from './git.ts'
import type { Place } from './place.ts'
import { type RawCommit, readCommits } from './read-commits.ts'
import { fetchInto } from './remote.ts'
import { removeFolder } from './remove-folder.ts'
import { type Channel, named } from './speak.ts'

/** Fetched refs get this name in a repository that is removed afterwards. */
const HERE = 'refs/there'

/**
 * The commit that a ref of a remote leads to; null where it leads to none, or to one that is larger than any of ours. It is
 * fetched alone, into a repository of its own: nothing of what a stranger may have put there comes into the user's.
 */
export async function readFromRemote(place: Place, channel: Channel, ref: string): Promise<RawCommit | null> {
  fs.mkdirSync(place.folder, { recursive: true, mode: 0o700 })
  const folder = fs.mkdtempSync(path.join(place.folder, 'read-'))
  const git = place.git.at(folder)
  try {
    const format = place.repository.nothing.commit.length === 64 ? ['--object-format=sha256'] : []
    await git.run(['init', '--quiet', '--template=', ...format, '.'])
    // A remote that knows how sends no files with it.
    const options = ['--depth=1', '--filter=tree:0']
    await fetchInto(git, channel, [`${ref}:${HERE}`], { doing: `reading ${named(channel.remote)}`, options })
    return await commitAt(git)
  } finally {
    removeFolder(folder)
  }
}

async function commitAt(git: Git): Promise<RawCommit | null> {
  const commit = (await git.ask(['rev-parse', '--verify', '--quiet', HERE])).stdout.toString().trim()
  const [raw] = commit === '' ? [] : await readCommits(git, [commit])
  return raw ?? null
}
