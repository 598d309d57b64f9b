import fs from 'node:fs'
import path from 'node:path'
import { GitFailed } from '../../git-failed.ts'
import { identityIn } from '../../identity.ts'
import type { Place } from '../../place.ts'
import { QUIETLY, unmergedIn } from '../bench/merge.ts'
import { refuse } from '../notes.ts'
import { registeredAt } from '../bench/registry.ts'
import { sharedFolder } from '../shop.ts'

/** Merges two commits in a worktree that is there for nothing else; answers the merge, which no ref leads to yet. */
export async function mergeBeside(
  place: Place,
  { head, theirs, message, doing }: { head: string; theirs: string; message: string; doing: string },
): Promise<string> {
  const folder = path.join(sharedFolder(place.repository), 'merging')
  await remove(place, folder)
  try {
    await place.git.run(['worktree', 'add', '--quiet', '--detach', '--', folder, head])
    const git = place.git.at(folder)
    const words = ['merge', ...QUIETLY, '--cleanup=verbatim', '-m', message, theirs]
    const answer = await git.ask(words, { env: await identityIn(git) })
    if (answer.code === 0) return await git.line(['rev-parse', 'HEAD'])
    const files = await unmergedIn(git)
    if (files.length === 0) throw new GitFailed('merge', answer)
    return refuse(doing, `it conflicts with what is here in ${files.join(', ')}`)
  } finally {
    if (!place.git.signal.aborted) await remove(place, folder)
  }
}

async function remove({ git, repository }: Place, folder: string): Promise<void> {
  fs.rmSync(folder, { recursive: true, force: true })
  if (registeredAt(repository, folder) === null) return
  await git.run(['worktree', 'remove', '--force', '--force', '--', folder])
}
