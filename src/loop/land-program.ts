import type { LandedView } from '../api/contract/loop-view.ts'
import { refusal } from '../api/contract/problems.ts'
import type { Loop } from '../core/loop/loop.ts'
import type { Session } from '../core/session.ts'
import type { Refusal } from '../lib/refusal.ts'
import { Trouble, reasonIn } from '../lib/trouble.ts'
import type { Home } from '../world/os/home.ts'
import { loopFolder, readLoop, recordLoop } from '../world/os/loop-file.ts'
import type { LandedList } from '../ports/workshop.ts'
import { serialLoopIn } from '../views/serial-loops.ts'
import { readAll, readOne } from '../world/store/read.ts'
import { composeGear } from './compose.ts'
import { landedList } from './deeds/land.ts'
import type { Gear } from './gear.ts'

/** `isDry`: only look whether it can be done. */
export interface Landing {
  readonly isSquash?: boolean
  readonly isDry?: boolean
}

/** A task tracker that is told of what landed answers within seconds. */
const PATIENCE = 60_000

/**
 * Brings what a loop has merged into the user's checkout, once the loop does not run. Repeated after whatever cut it short, it finds what is done
 * already.
 */
export async function landLoop(home: Home, sessionId: string, how: Landing = {}): Promise<LandedView> {
  const session = readOne(home, sessionId)
  const loop = readLoop(home, sessionId)
  if (session === undefined || loop === undefined)
    throw refusal('cannot-land', 'this loop has not started, and has nothing to land')
  const branch = landable(session, loop)
  assertIdle(home, session.spec.cwd)
  const gear = await gearFor(home, session, loop)
  const before = await gear.workshop.survey(gear.self.cwd)
  if ((await gear.workshop.tip(gear.self.cwd, branch)) === null) {
    if (loop.landedAt === null) throw withoutBranch(gear, loop, branch)
    return landedBefore(gear, loop, { branch, into: before?.branch ?? null, head: before?.head ?? '' })
  }
  const landed = await land(gear, branch, loop.tip ?? branch, { ...how, ...landedList(gear, loop) })
  const isNews = landed.commit !== before?.head
  const tasks = mergedIn(loop).map(({ item }) => ({ id: item.label, title: item.title }))
  const view = { name: session.spec.name, branch, into: before?.branch ?? null, ...landed, isNews, tasks }
  if (how.isDry === true) return { ...view, marked: 0, kept: null, isDryRun: true }
  const marked = await recordLanding(gear, loop)
  return { ...view, marked, kept: await cleared(gear, loop), isDryRun: false }
}

function landable({ spec, phase }: Session, loop: Loop): string {
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
  if (loop.branch === null || mergedIn(loop).length === 0)
    throw refusal('cannot-land', `${name} has merged nothing so far`, `oneshot ralph status ${name}`)
  return loop.branch
}

/** The agent of another loop that works in the user's checkout would be credited with what lands there. */
function assertIdle(home: Home, cwd: string): void {
  const name = serialLoopIn(cwd, readAll(home))?.spec.name
  if (name === undefined) return
  const ways = `wait for it: oneshot wait ${name}; or stop it: oneshot stop ${name}`
  throw refusal('cannot-land', `${name} works in this checkout, one task after the other`, ways)
}

/** Somebody has removed it, and git has what it led to for a while. */
function withoutBranch({ self }: Gear, { tip }: Loop, branch: string): Refusal {
  const back =
    tip === null ? `oneshot ralph status ${self.name}` : `git branch ${branch} ${tip.slice(0, 10)} brings it back`
  return refusal('cannot-land', `the branch ${branch} of ${self.name} is gone: there is nothing to land`, back)
}

/** The branch goes once all of it has landed. Whoever asks again gets the same answer as before that. */
function landedBefore(
  { self }: Gear,
  loop: Loop,
  { branch, into, head }: { branch: string; into: string | null; head: string },
): LandedView {
  const tasks = mergedIn(loop).map(({ item }) => ({ id: item.label, title: item.title }))
  return {
    name: self.name,
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

function mergedIn({ tasks }: Loop): Loop['tasks'] {
  return tasks.filter(({ stand, tries }) => stand.name === 'done' && tries.length > 0)
}

function gearFor(home: Home, { spec }: Session, loop: Loop): Promise<Gear> {
  const { id, name, task, cwd } = spec
  const self = { id, name, task, cwd, prompt: '' }
  return composeGear({ home, spec: loop.spec, logs: loopFolder(home, id), self })
}

async function land(
  { self, workshop }: Gear,
  branch: string,
  tip: string,
  how: Landing & { list?: LandedList },
): Promise<{ commit: string; isForward: boolean }> {
  try {
    const message = how.isSquash === true ? `${self.task}\n\nAll of ${branch}` : `Merge ${branch}`
    return await workshop.land(self.cwd, tip, message, how)
  } catch (cause) {
    if (!(cause instanceof Trouble)) throw cause
    throw refusal(
      'cannot-land',
      `${reasonIn(cause)}; nothing was changed`,
      `solve that, then: oneshot ralph land ${self.name}; or by hand: git merge ${branch}`,
    )
  }
}

/** First that it has landed, then the boxes that waited for it: whoever is cut short in between ticks them the next time. */
async function recordLanding({ home, self, source, now }: Gear, loop: Loop): Promise<number> {
  const landed = { ...loop, landedAt: now() }
  recordLoop(home, self.id, landed)
  const marks = loop.toMark
  if (marks.length === 0) return 0
  await source.mark(self.cwd, marks, AbortSignal.timeout(PATIENCE))
  recordLoop(home, self.id, { ...landed, toMark: [] })
  return marks.filter(({ isDone }) => isDone).length
}

/** A loop that may go on needs its worktree. */
async function cleared({ self, workshop, layout }: Gear, { stage }: Loop): Promise<string | null> {
  if (stage.name !== 'ended' || stage.ending.kind !== 'done') return 'the loop is not done'
  const after = await workshop.clear(self.cwd, layout.integration, 'HEAD')
  return after.kind === 'kept' ? after.reason : null
}
