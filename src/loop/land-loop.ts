import type { LandedView } from '../api/contract/loop-view.ts'
import { refusal } from '../api/contract/problems.ts'
import type { Loop } from '../core/loop/loop-state.ts'
import { withoutKeptWorktrees } from '../core/loop/reactions/merge.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import type { Session } from '../core/session/session-state.ts'
import type { Refusal } from '../lib/errors.ts'
import { Trouble, rootReason } from '../lib/errors.ts'
import type { Home } from '../state/home.ts'
import { loopFolder, readLoopOrThrow, writeLoop } from '../state/loop-file.ts'
import type { LandedList } from '../ports/worktrees.ts'
import { findSerialLoop } from '../views/loop/find-serial-loop-in-checkout.ts'
import { readLiveSessions, readStoredSession } from '../world/store/reader.ts'
import { connectDrivers } from './compose.ts'
import { landedList } from './effects/land.ts'
import { removeKeptWorktrees } from './effects/remove-worktrees.ts'
import type { LoopContext } from './context.ts'
import { relocateLoop } from './relocate.ts'

/** `isDry`: only check if the landing is possible. */
export interface LandOptions {
  readonly isSquash?: boolean
  readonly isDry?: boolean
}

/** Milliseconds; a task tracker answers within seconds. */
const TIMEOUT = 60_000

/**
 * Lands a stopped loop's branch in the user's checkout. After an interruption it can run again, and detects which steps
 * are done.
 */
export async function landLoop(home: Home, sessionId: SessionId, how: LandOptions = {}): Promise<LandedView> {
  const session = readStoredSession(home, sessionId)
  const known = readLoopOrThrow(home, sessionId)
  if (session === undefined || known === undefined)
    throw refusal('cannot-land', 'this loop has not started, and has nothing to land')
  const branch = assertLandable(session, known)
  assertIdle(home, session.spec.cwd)
  const context = await contextFor(home, session, known)
  const loop = await relocateLoop(context, known)
  const before = await context.worktrees.inspect(context.session.cwd)
  if ((await context.worktrees.branchTip(context.session.cwd, branch)) === null) {
    if (loop.landedAt === null) throw branchGone(context, loop, branch)
    return landedView(context, loop, { branch, into: before?.branch ?? null, head: before?.head ?? '' })
  }
  const landed = await landBranch(context, branch, loop.tip ?? branch, { ...how, ...landedList(context, loop) })
  const isNews = landed.commit !== before?.head
  const tasks = mergedTasks(loop).map(({ item }) => ({ id: item.label, title: item.title }))
  const view = { name: session.spec.name, branch, into: before?.branch ?? null, ...landed, isNews, tasks }
  if (how.isDry === true) return { ...view, marked: 0, kept: null, isDryRun: true }
  const marked = await recordLanding(home, context, loop)
  const removed = await removeKeptWorktrees(context, loop)
  const recorded = readLoopOrThrow(home, sessionId) ?? loop
  if (removed.length > 0) writeLoop(home, sessionId, withoutKeptWorktrees(recorded, removed))
  return { ...view, marked, kept: await removeIntegration(context, loop, view.into), isDryRun: false }
}

function assertLandable({ spec, phase }: Session, loop: Loop): string {
  const { name } = spec
  if (loop.spec.parallel === null)
    throw refusal(
      'cannot-land',
      `${name} works in your checkout, not in worktrees: there is nothing to land`,
      'git log shows its commits',
    )
  if (phase.name !== 'ended' && phase.name !== 'blocked')
    throw refusal(
      'session-running',
      `${name} is still running, and its branch could change meanwhile`,
      `oneshot stop ${name}`,
    )
  if (loop.branch === null || mergedTasks(loop).length === 0)
    throw refusal('cannot-land', `${name} has merged nothing so far`, `oneshot ralph status ${name}`)
  return loop.branch
}

/** Another loop that works in the user's checkout would take the landed commits for its agent's work. */
function assertIdle(home: Home, cwd: string): void {
  const name = findSerialLoop(cwd, readLiveSessions(home))?.spec.name
  if (name === undefined) return
  const ways = `wait for it: oneshot wait ${name}; or stop it: oneshot stop ${name}`
  throw refusal('cannot-land', `${name} works in this checkout, one task after the other`, ways)
}

/** Somebody removed the branch; git keeps its commits for some time. */
function branchGone({ session }: LoopContext, { tip }: Loop, branch: string): Refusal {
  const back =
    tip === null ? `oneshot ralph status ${session.name}` : `git branch ${branch} ${tip.slice(0, 10)} brings it back`
  return refusal('cannot-land', `the branch ${branch} of ${session.name} is gone: there is nothing to land`, back)
}

/** The loop removes its branch after the landing. A repeated call returns the same result. */
function landedView(
  { session }: LoopContext,
  loop: Loop,
  { branch, into, head }: { branch: string; into: string | null; head: string },
): LandedView {
  const tasks = mergedTasks(loop).map(({ item }) => ({ id: item.label, title: item.title }))
  return {
    name: session.name,
    branch,
    into,
    commit: head,
    isForward: true,
    isNews: false,
    tasks,
    marked: 0,
    kept: null,
    isDryRun: false,
  }
}

function mergedTasks({ tasks }: Loop): Loop['tasks'] {
  return tasks.filter(({ state, tries }) => state.name === 'done' && tries.length > 0)
}

function contextFor(home: Home, { spec }: Session, loop: Loop): Promise<LoopContext> {
  const { id, name, task, cwd } = spec
  const session = { id, name, task, cwd, prompt: '' }
  return connectDrivers(home, { spec: loop.spec, session, logFolder: loopFolder(home, id) })
}

async function landBranch(
  { session, worktrees }: LoopContext,
  branch: string,
  tip: string,
  how: LandOptions & { list?: LandedList },
): Promise<{ commit: string; isForward: boolean }> {
  try {
    const message = how.isSquash === true ? `${session.task}\n\nAll of ${branch}` : `Merge ${branch}`
    return await worktrees.land(session.cwd, tip, message, how)
  } catch (cause) {
    if (!(cause instanceof Trouble)) throw cause
    throw refusal(
      'cannot-land',
      `${rootReason(cause)}; nothing was changed`,
      `solve that, then: oneshot ralph land ${session.name}; or by hand: git merge ${branch}`,
    )
  }
}

/** Records the landing first and then ticks the boxes: after an interruption in between, the next call ticks them. */
async function recordLanding(home: Home, { session, taskSource, clock }: LoopContext, loop: Loop): Promise<number> {
  const landed = { ...loop, landedAt: clock.now() }
  writeLoop(home, session.id, landed)
  const marks = loop.marksToWrite
  if (marks.length === 0) return 0
  await taskSource.mark(session.cwd, marks, AbortSignal.timeout(TIMEOUT))
  writeLoop(home, session.id, { ...landed, marksToWrite: [] })
  return marks.filter(({ isDone }) => isDone).length
}

/** A loop that can be resumed needs its worktree. Without a branch, the next checkout would leave the commits behind. */
async function removeIntegration(
  { session, worktrees, paths }: LoopContext,
  { stage }: Loop,
  into: string | null,
): Promise<string | null> {
  if (into === null) return 'no other branch has its commits; git switch -c NAME makes one'
  if (stage.name !== 'ended' || stage.ending.kind !== 'done') return 'the loop is not done'
  const after = await worktrees.remove(session.cwd, paths.integration, 'HEAD')
  return after.kind === 'kept' ? after.reason : null
}
