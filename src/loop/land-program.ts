import type { LandedView } from '../api/contract/loop-view.ts'
import { refusal } from '../api/contract/problems.ts'
import type { Loop } from '../core/loop/loop.ts'
import type { Session } from '../core/session.ts'
import type { Refusal } from '../lib/refusal.ts'
import { iso } from '../lib/time.ts'
import { Trouble, reasonIn } from '../lib/trouble.ts'
import type { Home } from '../world/os/home.ts'
import { loopFolder, readLoop, recordLoop } from '../world/os/loop-file.ts'
import { readOne } from '../world/store/read.ts'
import { composeGear } from './compose.ts'
import type { Gear } from './gear.ts'

/** A task tracker that is told of what landed answers within seconds. */
const PATIENCE = 60_000

/**
 * Brings what a loop has merged into the user's checkout, once the loop does not run. Repeated after whatever cut it short, it finds what is done
 * already.
 */
export async function landLoop(home: Home, sessionId: string): Promise<LandedView> {
  const session = readOne(home, sessionId)
  const loop = readLoop(home, sessionId)
  if (session === undefined || loop === undefined)
    throw refusal('cannot-land', 'this loop has not begun, and has nothing to land')
  const branch = landable(session, loop)
  const gear = await gearFor(home, session, loop)
  const before = await gear.workshop.survey(gear.self.cwd)
  if ((await gear.workshop.tip(gear.self.cwd, branch)) === null) throw withoutBranch(gear, loop, branch)
  const landed = await land(gear, branch, loop.tip ?? branch)
  const marked = await recordLanding(gear, loop)
  const tasks = mergedIn(loop).map(({ item }) => ({ id: item.label, title: item.title }))
  const kept = await cleared(gear, loop)
  const isNews = landed.commit !== before?.head
  return { name: session.spec.name, branch, into: before?.branch ?? null, ...landed, isNews, tasks, marked, kept }
}

function landable({ spec, phase }: Session, loop: Loop): string {
  const { name } = spec
  if (loop.spec.parallel === null)
    throw refusal(
      'cannot-land',
      `${name} works right here, not in worktrees: there is nothing to land`,
      'git log shows it',
    )
  if (phase.name !== 'ended' && phase.name !== 'blocked')
    throw refusal(
      'session-running',
      `${name} is at work, and what it merges could change meanwhile`,
      `oneshot stop ${name}`,
    )
  if (loop.branch === null || mergedIn(loop).length === 0)
    throw refusal('cannot-land', `${name} has merged nothing so far`, `oneshot ralph status ${name}`)
  return loop.branch
}

/** It goes once all of it has landed; else somebody has removed it, and git has what it led to for a while. */
function withoutBranch({ self }: Gear, { landedAt, tip }: Loop, branch: string): Refusal {
  if (landedAt !== null)
    return refusal(
      'cannot-land',
      `${self.name} has landed already, ${iso(landedAt)}, and its branch ${branch} is gone`,
      'git log shows it',
    )
  const back =
    tip === null ? `oneshot ralph status ${self.name}` : `git branch ${branch} ${tip.slice(0, 10)} brings it back`
  return refusal('cannot-land', `the branch ${branch} of ${self.name} is gone: there is nothing to land`, back)
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
): Promise<{ commit: string; isForward: boolean }> {
  try {
    return await workshop.land(self.cwd, tip, `Merge ${branch}`)
  } catch (cause) {
    if (!(cause instanceof Trouble)) throw cause
    throw refusal(
      'cannot-land',
      `${reasonIn(cause)}; nothing was changed`,
      `see to it, then: oneshot ralph land ${self.name}; or by hand: git merge ${branch}`,
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
