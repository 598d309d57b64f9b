import type { CheckpointView, SessionView } from '../api/contract/session-view.ts'
import type { Work } from '../core/prove.ts'
import { type State, traceBetween, traceWithin } from '../world/git/trace.ts'
import type { Home } from '../world/os/home.ts'
import { readChange, readCheckpoints } from './checkpoints.ts'

/** What git shows of a session's work, or a sentence why it does not, and what is to be known about it. */
export interface WorkShown {
  readonly work: Work | string
  readonly remarks: readonly string[]
}

/** A session's checkpoints, where its work can be told by them: where the first one was made before it began. */
export async function tellingCheckpoints(home: Home, session: SessionView): Promise<CheckpointView[]> {
  const all = await readCheckpoints(home, session).catch(() => []) // No repository: what follows says so.
  return all[0]?.trigger === 'start' ? all : []
}

/**
 * What a session has changed: from its first checkpoint to the last that is its own, or to `now` while it is at work. What
 * was done after it had ended is not its work. Without checkpoints the times of commits and files must do.
 */
export async function workOf(
  home: Home,
  session: SessionView,
  checkpoints: readonly CheckpointView[],
  now: CheckpointView | null,
): Promise<WorkShown> {
  const since = Date.parse(session.createdAt)
  const [first] = checkpoints
  const last = now ?? lastOwn(session, checkpoints)
  if (first === undefined || last === undefined) return byTimes(session, since)
  const traced = await traceBetween(session.cwd, stateAt(first), stateAt(last), since)
  if (typeof traced === 'string') return { work: traced, remarks: [] }
  // Repositories within the working tree count here, too.
  const change = await readChange(home, session, { from: first.commit, to: last.commit })
  return { work: { ...traced, change }, remarks: last.leftOut }
}

async function byTimes(session: SessionView, since: number): Promise<WorkShown> {
  const until = session.endedAt === null ? null : Date.parse(session.endedAt)
  const work = await traceWithin(session.cwd, { since, until })
  if (typeof work === 'string') return { work, remarks: [] }
  return { work, remarks: ['it has no checkpoints: oneshot judges by the times of commits and files'] }
}

/** What people have saved after its end may be theirs. */
function lastOwn({ endedAt }: SessionView, all: readonly CheckpointView[]): CheckpointView | undefined {
  const isOwn = ({ at, trigger }: CheckpointView): boolean =>
    endedAt === null || at <= endedAt || (trigger !== 'asked' && trigger !== 'restore')
  return all.findLast(isOwn)
}

function stateAt({ head, commit }: CheckpointView): State {
  return { head, files: commit }
}
