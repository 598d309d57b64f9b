import type { CheckpointView, SessionView } from '../api/contract/responses.ts'
import type { SessionWork } from '../core/policy/verify.ts'
import { type WorkingState, workBetween, workWithin } from '../world/git/work-since.ts'
import type { Home } from '../state/home.ts'
import { readChange, readCheckpoints } from './checkpoints.ts'
import type { Loop } from '../core/loop/loop.ts'
import { readLoop } from '../state/loop-file.ts'
import { isLoop } from './session-state.ts'

/** What git shows of a session's work, or a sentence why it does not, and what is to be known about it. */
export interface WorkReport {
  readonly work: SessionWork | string
  readonly remarks: readonly string[]
}

/** A session's checkpoints, where its work can be told by them: where the first one was made before it began. */
export async function readCheckpointsFromStart(home: Home, session: SessionView): Promise<CheckpointView[]> {
  const all = await readCheckpoints(home, session).catch(() => []) // No repository: what follows says so.
  return all[0]?.trigger === 'start' ? all : []
}

/**
 * What a session has changed: from its first checkpoint to the last that is its own, or to `now` while it is at work. What
 * was done after it had ended is not its work. Without checkpoints the times of commits and files must do.
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
  // Repositories within the working tree count here, too.
  const change = await readChange(home, session, { from: first.commit, to: last.commit })
  return { work: { ...work, change }, remarks: last.leftOut }
}

async function summarizeByTimes(session: SessionView, since: number): Promise<WorkReport> {
  const until = session.endedAt === null ? null : Date.parse(session.endedAt)
  const work = await workWithin(session.cwd, { since, until })
  if (typeof work === 'string') return { work, remarks: [] }
  return { work, remarks: ['it has no checkpoints: oneshot judges by the times of commits and files'] }
}

/** What people have saved after its end may be theirs. */
function findLastOwn({ endedAt }: SessionView, all: readonly CheckpointView[]): CheckpointView | undefined {
  const isOwn = ({ at, trigger }: CheckpointView): boolean =>
    endedAt === null || at <= endedAt || (trigger !== 'asked' && trigger !== 'restore')
  return all.findLast(isOwn)
}

function toState({ head, commit }: CheckpointView): WorkingState {
  return { head, files: commit }
}

/** What a loop has merged in worktrees, which its folder does not show. `isApart`: nor will it before that has landed. */
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

/** What was seen of each task that is done, in one. */
function sumMergedWork({ tasks }: Loop): SessionWork {
  const evidence = tasks.flatMap(({ stand, evidence }) =>
    stand.name === 'done' && evidence !== null ? [evidence] : [],
  )
  const sum = (measure: (work: SessionWork) => number): number =>
    evidence.map(measure).reduce((all, one) => all + one, 0)
  const files = [...new Set(evidence.flatMap(work => work.files))]
  return {
    // What was left uncommitted was committed as it was merged.
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
