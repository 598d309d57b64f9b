import { objectId } from '../../../core/checkpoint/object-id.ts'
import { selectRetained } from '../../../core/checkpoint/retention.ts'
import type { RawPath } from '../../../lib/text/raw-path.ts'
import { invariant } from '../../../lib/errors.ts'
import type { Instant } from '../../../lib/time.ts'
import { readHistory } from './history.ts'
import { type CheckpointCommit, checkpointHead, readCommits } from './read-commits.ts'
import { type RepositoryContext, openNested } from '../repository-context.ts'
import { UPDATE_REF, updateRef } from '../update-ref.ts'
import { importCommits } from './import-commits.ts'
import { isGcRunning, isUnchangedSince, readGitDirStamp, rollBackIfBroken } from './save/gc-race.ts'
import { removeStateFolder } from '../remove-state-folder.ts'
import { WORK_REFS } from '../worktrees/context.ts'

/** The minimum number of removals that is worth rewriting a chain. */
const MIN_REMOVED = 20

/** Removes checkpoints that the retention policy does not keep, also in nested repositories. Returns their number. */
export async function pruneCheckpoints(context: RepositoryContext, now: Instant): Promise<number> {
  if (isGcRunning(context)) return 0
  const history = await readHistory(context)
  const keep = selectRetained(
    history.map(({ trailers }) => trailers),
    now,
  )
  const gone = history.length - keep.size
  if (gone < MIN_REMOVED) return 0
  const kept = history.filter(({ trailers }) => keep.has(trailers.number))
  if (!(await rewriteHistory(context, history, kept))) return 0
  for (const [path, numbers] of nestedStatesIn(kept)) await pruneNested(context, path, numbers)
  return gone
}

/** Returns the nested checkpoints that the retained checkpoints refer to. */
function nestedStatesIn(kept: readonly CheckpointCommit[]): Map<RawPath, Set<number | string>> {
  const states = new Map<RawPath, Set<number | string>>()
  for (const { path, state, isHeadOnly } of kept.flatMap(({ trailers }) => trailers.nested)) {
    if (isHeadOnly) continue
    states.set(path, (states.get(path) ?? new Set()).add(state))
  }
  return states
}

async function pruneNested(
  outer: RepositoryContext,
  path: RawPath,
  numbers: ReadonlySet<number | string>,
): Promise<void> {
  // The repository is missing, and its checkpoints with it.
  const place = await openNested(outer, path).catch(() => null)
  if (place === null) return
  const history = await readHistory(place)
  const kept = history.filter(
    ({ trailers }, at) => at === 0 || at === history.length - 1 || numbers.has(trailers.number),
  )
  if (kept.length < history.length) await rewriteHistory(place, history, kept)
}

/**
 * Rewrites the chain with only these checkpoints: trees, messages and times stay, and the parents change after the
 * first gap. Returns false if a concurrent `git gc` has removed the new chain.
 */
async function rewriteHistory(
  context: RepositoryContext,
  history: readonly CheckpointCommit[],
  kept: readonly CheckpointCommit[],
): Promise<boolean> {
  const { git } = context
  const same = kept.findIndex((checkpoint, at) => checkpoint !== history[at])
  const [foot, rest] = [kept[same - 1], kept.slice(same)]
  const tip = history.at(-1)
  invariant(foot !== undefined && tip !== undefined, 'the first link and the last one are kept')
  const gitDirStamp = readGitDirStamp(context)
  const raw = await readCommits(
    git,
    rest.map(({ commit }) => commit),
  )
  const rewritten = raw.map(one => {
    invariant(one !== null, 'what is in the chain is there')
    return { raw: one, head: checkpointHead(one), removed: [] }
  })
  const commits = await importCommits(context, rewritten, foot.commit)
  const commit = objectId(commits.at(-1))
  const tree = await git.runForLine(['rev-parse', `${commit}^{tree}`])
  invariant(tree === tip.tree, `the last checkpoint stays the same: ${tip.tree}`)
  await updateRef(context, commit, tip.commit)
  const unverified = { commit, before: tip.commit, objects: commits }
  return isUnchangedSince(context, gitDirStamp) || !(await rollBackIfBroken(context, unverified))
}

/**
 * Removes the refs of a session, here and in nested repositories, and the private indexes. git prunes the objects
 * later.
 */
export async function removeCheckpoints(context: RepositoryContext): Promise<void> {
  const history = await readHistory(context).catch(() => []) // A broken history can be removed, too.
  const nested = new Set(
    history.flatMap(({ trailers }) => trailers.nested.flatMap(one => (one.isHeadOnly ? [] : [one.path]))),
  )
  for (const path of nested) {
    const inside = await openNested(context, path).catch(() => null) // The repository is missing, and its refs with it.
    if (inside !== null) await removeSessionRefs(inside)
  }
  await removeSessionRefs(context)
  removeStateFolder(context.folder)
}

/** Removes only the refs of a session from this repository; other refs may share their objects. */
export async function removeSessionRefs({
  git,
  ref,
  sessionId,
}: Pick<RepositoryContext, 'git' | 'ref' | 'sessionId'>): Promise<void> {
  const names = [ref, `${ref}+*`, `${WORK_REFS}/${sessionId}`]
  const refs = (await git.run(['for-each-ref', '--format=delete %(refname)', ...names])).toString()
  if (refs !== '') await git.run([...UPDATE_REF, '--stdin'], { input: refs })
}
