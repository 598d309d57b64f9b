import { splitRaw } from '../../../../lib/raw-path.ts'
import { GitFailed } from '../../git-failed.ts'
import { OURS } from '../../identity.ts'
import type { Place } from '../../place.ts'
import { UPDATE_REF } from '../../ref.ts'
import { logOf } from '../log-of.ts'
import { commitAt, keptRef } from '../shop.ts'
import { changesOf } from '../tree-without.ts'

const SUBJECT = 'oneshot: what was on'

/** What was on a branch before it went elsewhere. `heads`: the commits that were there, the one that was checked out first. */
export interface Leaving {
  readonly branch: string
  readonly target: string
  readonly heads: readonly string[]
  /** What was kept last. */
  readonly before: string | null
  readonly tree: string
}

/** One ref for each branch, whose commits have what was there before as their parents. */
export async function keep({ git }: Place, { branch, target, heads, tree, before }: Leaving): Promise<void> {
  const parents = [...heads, ...(before === null ? [] : [before])].flatMap(parent => ['-p', parent])
  const input = `${SUBJECT} ${branch} before it went back to ${target}`
  const answer = await git.script(KEEP, [keptRef(branch), tree, ...parents], { input, env: OURS })
  if (answer.code !== 0) throw new GitFailed('commit-tree', answer)
}

const KEEP = `
ref=$1
shift
commit=$(git commit-tree "$@") || exit
git ${UPDATE_REF.join(' ')} "$ref" "$commit"
`

/** Lets go of what was kept of a branch, if a commit follows all of its commits and has the contents of all of its files. */
export async function letGo(place: Place, branch: string, target: string): Promise<void> {
  const { git } = place
  const kept = keptRef(branch)
  const last = await commitAt(git, kept)
  if (last === null) return
  const commits = await logOf(place, [last, '--not', target, '--'])
  if (!commits.every(({ subject }) => subject.startsWith(SUBJECT))) return
  const present = await blobsIn(place, target)
  for (const { id } of commits) {
    const entries = await changesOf(place, `${id}^1`, id)
    if (entries.some(({ after }) => after !== null && !present.has(after))) return
  }
  await git.run([...UPDATE_REF, '-d', kept, last])
}

/** `MODE TYPE HASH<tab>PATH` */
async function blobsIn({ git }: Place, commit: string): Promise<ReadonlySet<string>> {
  const lines = splitRaw(await git.run(['ls-tree', '-r', '-z', commit]))
  return new Set(lines.map(line => line.split(/[ \t]/, 3)[2] as string))
}
