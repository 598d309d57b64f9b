import type { CheckpointView, SessionView } from '../api/contract/responses.ts'
import type { SessionWork } from '../core/policy/verify.ts'
import { type WorkingState, workBetween, workWithin } from '../world/git/work-since.ts'
import type { Home } from '../state/home.ts'
import { readChange, readCheckpoints } from './checkpoints.ts'
import type { Loop } from '../core/loop/loop-state.ts'
import { readLoop } from '../state/loop-file.ts'
import { isLoop } from './describe-session.ts'

/** The work of a session as git shows it, or a sentence why git does not, with remarks. */
export interface WorkReport {
  readonly work: SessionWork | string
  readonly remarks: readonly string[]
}

/** Returns a session's checkpoints if the first one precedes its work; otherwise an empty list. */
export async function readCheckpointsFromStart(home: Home, session: SessionView): Promise<CheckpointView[]> {
  const all = await readCheckpoints(home, session).catch(() => []) // Outside a repository, the summary says so.
  return all[0]?.trigger === 'start' ? all : []
}

/**
 * Summarises the changes of a session: from its first checkpoint to its own last one, or to `now` while it is running.
 * Changes after its end are not its work. Without checkpoints, the times of commits and files decide.
 */
export async function summarizeWork(
  home: Home,
  session: SessionView,
  checkpoints: readonly CheckpointView[],
  now: CheckpointView | null,
): Promise<WorkReport> {
  const since = Date.parse(session.createdAt)
  const [first] = checkpoints
  const last = now ?? findLastOwn(session, checkpoints)
  if (first === undefined || last === undefined) return summarizeByTimes(session, since)
  const work = await workBetween(session.cwd, toState(first), toState(last), since)
  if (typeof work === 'string') return { work: work, remarks: [] }
  // This count includes repositories within the working tree.
  const change = await readChange(home, session, { from: first.commit, to: last.commit })
  return { work: { ...work, change }, remarks: last.leftOut }
}

async function summarizeByTimes(session: SessionView, since: number): Promise<WorkReport> {
  const until = session.endedAt === null ? null : Date.parse(session.endedAt)
  const work = await workWithin(session.cwd, { since, until })
  if (typeof work === 'string') return { work, remarks: [] }
  return { work, remarks: ['it has no checkpoints: oneshot judges by the times of commits and files'] }
}

/** Finds the session's own last checkpoint; later checkpoints that people requested may hold their own work. */
function findLastOwn({ endedAt }: SessionView, all: readonly CheckpointView[]): CheckpointView | undefined {
  const isOwn = ({ at, trigger }: CheckpointView): boolean =>
    endedAt === null || at <= endedAt || (trigger !== 'asked' && trigger !== 'restore')
  return all.findLast(isOwn)
}

function toState({ head, commit }: CheckpointView): WorkingState {
  return { head, files: commit }
}

/**
 * Returns the work that a loop has merged in worktrees and its folder does not show. `isApart` is true until that work
 * has landed.
 */
export function readLoopWork(home: Home, session: SessionView): (WorkReport & { readonly isApart: boolean }) | null {
  const loop = isLoop(session) ? readLoop(home, session.id) : undefined
  if (loop === undefined || loop.spec.parallel === null) return null
  const isApart = loop.landedAt === null
  const where = loop.branch === null ? [] : [describeBranch(loop.branch, loop, session.name)]
  return { work: sumMergedWork(loop), remarks: where, isApart }
}

function describeBranch(branch: string, { spec, landedAt }: Loop, name: string): string {
  if (landedAt !== null) return `it has landed from ${branch}`
  const check = spec.check === null ? '' : ', where the check was run as each task was merged'
  return `it is on ${branch}${check}; oneshot ralph land ${name} brings it here`
}

/** Sums the evidence of all finished tasks. */
function sumMergedWork({ tasks }: Loop): SessionWork {
  const evidence = tasks.flatMap(({ state, evidence }) =>
    state.name === 'done' && evidence !== null ? [evidence] : [],
  )
  const sum = (measure: (work: SessionWork) => number): number =>
    evidence.map(measure).reduce((all, one) => all + one, 0)
  const files = [...new Set(evidence.flatMap(work => work.files))]
  return {
    // The merge committed the uncommitted changes.
    commitCount: sum(({ commitCount, uncommitted }) => Math.max(commitCount, uncommitted > 0 ? 1 : 0)),
    commits: evidence.flatMap(({ commits }) => commits).slice(0, 12),
    change: {
      files: Math.max(files.length, ...evidence.map(({ change }) => change.files)),
      added: sum(({ change }) => change.added),
      removed: sum(({ change }) => change.removed),
    },
    files: files.slice(0, 12),
    uncommitted: 0,
  }
}
