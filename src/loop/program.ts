import fs from 'node:fs'
import path from 'node:path'
import { lastStop } from '../core/events.ts'
import { wantedOf } from '../core/loop/choose.ts'
import { createLoop, isAtWork, type Loop } from '../core/loop/loop.ts'
import type { LoopSignal } from '../core/loop/signals.ts'
import type { LoopSpec } from '../core/loop/spec.ts'
import { add, NOTHING_SPENT, type Spending } from '../core/spending.ts'
import type { Task } from '../core/task.ts'
import { invariant, Trouble, wordsOf } from '../lib/trouble.ts'
import type { LoopEvent } from '../world/agents/ralph/events.ts'
import { attemptOfLetter, sessionFolder } from '../world/os/folders.ts'
import { locateHome } from '../world/os/home.ts'
import { loopFolder, readOwnLoop, recordLoop } from '../world/os/loop-file.ts'
import { readEvents, readOne } from '../world/store/read.ts'
import { composeGear } from './compose.ts'
import { begin } from './deeds/begin.ts'
import { Driver } from './driver.ts'
import type { Gear } from './gear.ts'
import { guardSupervisor } from './guard-supervisor.ts'
import { narrate } from './narrate.ts'

/** How long those who work for us get to stop before we go: our supervisor sees to the rest. */
const FAREWELL = 5_000
/** What a program that was told to stop answers. */
const INTERRUPTED = 130

/**
 * The program of a loop. Its supervisor starts it again whenever it dies; what it does is nothing but what follows from what it has
 * written down and from what it sees.
 */
export async function loopProgram(argv: readonly string[]): Promise<void> {
  const gear = await gearFor(argv)
  const { home, self, now } = gear
  const known = knownLoop(gear)
  const { clockSince } = readOne(home, self.id) ?? { clockSince: now() }
  const loop = known ?? createLoop(gear.spec, now(), clockSince)
  say({ type: 'loop', thread: self.id })
  const ending = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => ending.abort())
  void guardSupervisor(home, ending.signal)
  const seen = await firstSight(gear, loop, { wokenAt: clockSince, ending: ending.signal })
  const driver = new Driver(gear, loop, {
    record: next => recordLoop(home, self.id, next),
    tell: (before, after) => tell(before, after),
  })
  const last = await driver.run(seen, ending.signal)
  if (ending.signal.aborted) return await leave(gear)
  conclude(last, gear)
}

/** A record that cannot be understood ends the loop: to begin anew would do everything again. */
function knownLoop({ home, self }: Gear): Loop | undefined {
  try {
    return readOwnLoop(home, self.id)
  } catch (cause) {
    if (!(cause instanceof Trouble)) throw cause
    say({ type: 'loop', thread: self.id })
    say({ type: 'ended', kind: 'unfinished', text: wordsOf(cause) })
    process.exit(0)
  }
}

async function gearFor(argv: readonly string[]): Promise<Gear> {
  const home = locateHome(process.env)
  const { sessionId } = attemptOfLetter(process.env['ONESHOT_ATTEMPT'] ?? '')
  const session = readOne(home, sessionId)
  invariant(session !== undefined, 'a loop runs in a session of its own; start one with: oneshot ralph')
  const spec = JSON.parse(argv[0] ?? '') as LoopSpec
  const { id, name, task, cwd } = session.spec
  const prompt = fs.readFileSync(sessionFolder(home, id).prompt, 'utf8')
  const logs = path.join(loopFolder(home, id), 'logs')
  return await composeGear({ home, spec, logs, self: { id, name, task, cwd, prompt } })
}

/**
 * What is there is looked at each time, before anything else: it may have been changed by hand. Somebody has asked to go on when the session was
 * woken since; else our supervisor has only started us again.
 */
async function firstSight(
  gear: Gear,
  loop: Loop,
  { wokenAt, ending }: { wokenAt: number; ending: AbortSignal },
): Promise<LoopSignal[]> {
  const at = gear.now()
  const isResumed = loop.wokenAt !== wokenAt
  const stoppedAt = isResumed ? (lastStop(readEvents(gear.home, gear.self.id)) ?? wokenAt) : wokenAt
  const resumed: LoopSignal[] = isResumed ? [{ type: 'user.resume', at, wokenAt, stoppedAt }] : []
  const isToLook = loop.tasks.length > 0 && (isResumed || loop.stage.name !== 'ended')
  const seen: LoopSignal[] = []
  const report = (signal: object): void => void seen.push({ ...signal, at } as LoopSignal)
  if (isToLook) await begin({ gear, loop: () => loop, report, ending }, isResumed)
  const isImpossible = seen.some(({ type }) => type === 'loop.impossible')
  return isImpossible ? seen : [...seen, ...resumed]
}

function tell(before: Loop, after: Loop): void {
  for (const text of narrate(before, after)) say({ type: 'say', text })
  const tasks = tasksOf(after)
  if (JSON.stringify(tasks) !== JSON.stringify(tasksOf(before))) say({ type: 'tasks', tasks })
  const spending = spentOn(after)
  if (JSON.stringify(spending) !== JSON.stringify(spentOn(before))) say({ type: 'spent', spending })
}

function tasksOf(loop: Loop): Omit<Task, 'source'>[] {
  return wantedOf(loop).map(task => ({
    id: task.item.label,
    title: task.item.title,
    state: task.stand.name === 'done' ? 'done' : isAtWork(task) ? 'doing' : 'open',
  }))
}

function spentOn({ tasks, plan }: Loop): Spending {
  return [...plan, ...tasks.flatMap(({ tries }) => tries)].map(({ spent }) => spent).reduce(add, NOTHING_SPENT)
}

/** The last word. Whoever hears it believes it, so nothing is left to do by then. */
function conclude({ stage, spec }: Loop, { self }: Gear): void {
  invariant(stage.name === 'ended', 'a loop ends only at its end')
  const { kind, reason } = stage.ending
  if (kind === 'planned' && spec.plan === 'first') {
    say({
      type: 'ended',
      kind: 'review',
      text: `${reason}: look at it, then continue with: oneshot resume ${self.name}`,
    })
  } else say({ type: 'ended', kind, text: reason })
}

async function leave({ hands }: Gear): Promise<void> {
  await hands.dismiss(AbortSignal.timeout(FAREWELL)).catch(() => undefined) // Our supervisor ends whom we leave behind.
  process.exit(INTERRUPTED)
}

/** One line at a time, straight to the file: nothing of it is lost with us. */
function say(event: LoopEvent): void {
  fs.writeSync(1, `${JSON.stringify(event)}\n`)
}
