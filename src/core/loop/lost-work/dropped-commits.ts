import { displayPath } from '../../../lib/text/raw-path.ts'
import type { Loop } from '../loop-state.ts'
import type { DroppedCommits } from '../work-evidence.ts'
import { formatFew } from './lost-work.ts'
import { shortHash } from './restore-command.ts'

/** Returns those of these commits that no agent of the loop made, oldest first. */
export function userCommits({ tasks }: Loop, ids: readonly string[]): string[] {
  const byAgents = new Set(
    tasks.flatMap(({ evidence, previousCompletion }) =>
      [evidence, previousCompletion?.evidence].flatMap(one => one?.commits.map(({ id }) => id) ?? []),
    ),
  )
  return ids.filter(id => !byAgents.has(id)).toReversed()
}

/**
 * Describes commits of the user that a branch has lost, and the command that merges them again: the work since then
 * stays on the branch.
 */
export function describeDroppedCommits(lost: {
  readonly dropped: DroppedCommits
  /** The user's commits among them, oldest first. */
  readonly ids: readonly string[]
  /** Files of these commits that are gone, or have their old content. */
  readonly paths: readonly string[]
  /** The commit that was checked out before. */
  readonly head: string
  readonly branch: string
  /** The label of the task whose agent worked meanwhile. */
  readonly task: string
}): string {
  const { dropped, ids, paths, head, branch, task } = lost
  const commits = `${ids.length === 1 ? 'commit' : 'commits'} ${formatFew(ids.map(shortHash))} of yours`
  const what =
    dropped.isByWorker === true
      ? `the agent of task ${task} removed ${commits} from ${branch}`
      : `${commits} ${ids.length === 1 ? 'is' : 'are'} no longer on ${branch}, since an agent worked on task ${task}`
  const files = paths.length === 0 ? 'no file is lost' : `lost: ${formatFew(paths.map(displayPath))}`
  const options = dropped.hasCommonBase ? '' : '--allow-unrelated-histories '
  const them = ids.length === 1 ? 'it' : 'them'
  return `${what} (${files}): \`git merge ${options}${shortHash(head)}\` brings ${them} back`
}
