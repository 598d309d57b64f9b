import path from 'node:path'
import { makeStraight } from '../../../os/open-folder.ts'
import { removeTree } from '../../../os/remove-tree.ts'
import { GitFailed } from '../../git-failed.ts'
import { identityIn } from '../../identity.ts'
import type { Git } from '../../git.ts'
import { bytesOf, shown } from '../../../../lib/raw-path.ts'
import type { LandedList } from '../../../../ports/workshop.ts'
import type { Place } from '../../place.ts'
import { QUIETLY, unmergedIn } from '../bench/merge.ts'
import { refuse } from '../notes.ts'
import { registeredAt } from '../bench/registry.ts'
import { sharedFolder } from '../shop.ts'

/** Merges two commits in a worktree that is there for nothing else; answers the merge, which no ref leads to yet. */
export async function mergeBeside(
  place: Place,
  given: {
    head: string
    theirs: string
    squashed: string | null
    message: string
    doing: string
    list: LandedList | undefined
  },
): Promise<string> {
  const { head, theirs, squashed, message, doing, list } = given
  const folder = path.join(sharedFolder(place.repository), 'merging')
  await remove(place, folder)
  try {
    const env = await identityIn(place.git)
    const commit = (tree: string, parents: readonly string[]): Promise<string> =>
      place.git.line(['commit-tree', ...parents.flatMap(parent => ['-p', parent]), '-F', '-', tree], {
        input: message,
        env,
      })
    // What was squashed counts as merged: git then compares with that, and not with what was there before.
    const ours = squashed === null ? head : await commit(`${head}^{tree}`, [head, squashed])
    await place.git.run(['worktree', 'add', '--quiet', '--detach', '--', folder, ours])
    const git = place.git.at(folder)
    const words = ['merge', ...QUIETLY, '--cleanup=verbatim', '-m', message, theirs]
    const answer = await git.ask(words, { env })
    if (answer.code === 0) {
      const merged = await git.line(['rev-parse', 'HEAD'])
      return squashed === null ? merged : await commit(`${merged}^{tree}`, [head, theirs])
    }
    const files = await unmergedIn(git)
    if (list !== undefined && files.length === 1 && files[0] === shown(list.file))
      return await commit(await treeWithList(git, folder, list), [head, theirs])
    if (files.length === 0) throw new GitFailed('merge', answer)
    return refuse(doing, `it conflicts with your files: ${files.join(', ')}`)
  } finally {
    if (!place.git.signal.aborted) await remove(place, folder)
  }
}

/** The tree of a merge in which only the list conflicts. */
async function treeWithList(git: Git, folder: string, { file, tick }: LandedList): Promise<string> {
  const name = bytesOf(file).toString()
  await git.run(['checkout', '--quiet', '--ours', '--', name])
  await tick(folder)
  await git.run(['add', '--force', '--', name])
  return git.line(['write-tree'])
}

async function remove({ git, repository }: Place, folder: string): Promise<void> {
  makeStraight(path.dirname(folder)).close()
  removeTree(folder)
  if (registeredAt(repository, folder) === null) return
  await git.run(['worktree', 'remove', '--force', '--force', '--', folder])
}
