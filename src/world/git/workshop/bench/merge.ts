import fs from 'node:fs'
import path from 'node:path'
import { shown, splitRaw } from '../../../../lib/raw-path.ts'
import type { Merged } from '../../../../ports/workshop.ts'
import type { Answer, Git } from '../../git.ts'
import { GitFailed } from '../../git-failed.ts'
import { headOf } from '../../head.ts'
import { identityIn } from '../../identity.ts'
import type { Place } from '../../place.ts'
import { underWay } from '../../under-way.ts'
import { lookNow } from '../look-now.ts'
import { mergingIn, refuse } from '../notes.ts'
import { commitAt, isIn, objectsAt } from '../shop.ts'
import { assertSpared, sweep } from './sweep.ts'

/** Merges as a commit of its own, or leaves everything as it was. */
export async function merge(place: Place, branch: string, message: string, onto?: string): Promise<Merged> {
  await settle(place)
  const { git } = place
  const doing = `merging ${branch}`
  const [head, theirs] = await bothSides(place, branch, doing)
  if (onto !== undefined && head !== onto) return { kind: 'moved' }
  if (await isIn(git, theirs, head)) return { kind: 'merged', commit: head }
  const answer = await tryMerge(place, { branch, head, how: ['--cleanup=verbatim', '-m', message] })
  if (answer.code === 0) {
    mergingIn(place).drop()
    const [commit = '', first] = answer.stdout.toString().split('\n')
    return onto !== undefined && first !== onto ? { kind: 'moved' } : { kind: 'merged', commit }
  }
  const files = await unmergedIn(git)
  await settle(place)
  if (files.length === 0) throw new GitFailed('merge', answer)
  return { kind: 'conflict', files }
}

/** Begins a merge and leaves it to somebody. */
export async function clash(place: Place, branch: string): Promise<readonly string[]> {
  await settle(place)
  const { git, repository } = place
  if (fs.existsSync(path.join(repository.gitDir, 'MERGE_HEAD'))) return unmergedIn(git)
  const [head, theirs] = await bothSides(place, branch, `merging ${branch}`)
  if (await isIn(git, theirs, head)) return []
  const answer = await tryMerge(place, { branch, head, how: ['--no-commit'] })
  const files = await unmergedIn(git)
  if (answer.code !== 0 && files.length === 0) {
    await settle(place)
    throw new GitFailed('merge', answer)
  }
  mergingIn(place).drop()
  return files
}

/** Takes back a merge in the midst of which we were killed: files that it has changed or made go back to what they were. */
export async function settle(place: Place): Promise<void> {
  const { git } = place
  const note = mergingIn(place)
  const begun = note.read()
  if (begun === null) return
  if ((await headOf(place)) === begun.head) {
    await git.run(['reset', '--quiet', '--hard', begun.head])
    const untaken = new Set(begun.untaken ?? [])
    await sweep(place, file => !untaken.has(file))
    await git.run(['read-tree', '--reset', '-u', begun.tree])
  }
  await git.run(['reset', '--quiet', '--mixed'])
  note.drop()
}

async function bothSides(place: Place, branch: string, doing: string): Promise<[head: string, theirs: string]> {
  const what = underWay(place.repository.gitDir)
  if (what !== null) refuse(doing, `${what} is under way in ${place.repository.top}`)
  const head = (await headOf(place)) ?? refuse(doing, 'there is no commit to merge it into')
  return [head, (await commitAt(place.git, branch)) ?? refuse(doing, 'there is no such branch')]
}

export const QUIETLY = [
  '--quiet',
  '--no-edit',
  '--no-ff',
  '--no-log',
  '--no-stat',
  '--no-verify',
  '--no-gpg-sign',
] as const

async function tryMerge(
  place: Place,
  { branch, head, how }: { branch: string; head: string; how: readonly string[] },
): Promise<Answer> {
  const { git } = place
  const sight = await lookNow(place)
  await assertSpared(place, sight, { target: null, doing: `merging ${branch}` })
  mergingIn(place).write({ head, tree: sight.tree, untaken: sight.untaken })
  const [isBranch = null] = await objectsAt(git, [`refs/heads/${branch}`])
  const name = isBranch === null ? branch : `heads/${branch}`
  return git.script(MERGE, [...QUIETLY, ...how, name], { env: await identityIn(git) })
}

/** Answers where HEAD is then, and where it was. */
const MERGE = `
git merge "$@" >/dev/null || exit
git rev-parse HEAD HEAD^1
`

/** The files of a merge that nobody has resolved yet. */
export async function unmergedIn(git: Git): Promise<string[]> {
  return splitRaw(await git.run(['diff', '--name-only', '--diff-filter=U', '-z', '--ignore-submodules=dirty'])).map(
    shown,
  )
}
