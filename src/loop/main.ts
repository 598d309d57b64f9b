import fs from 'node:fs'
import path from 'node:path'
import { lastStop } from '../core/session/events.ts'
import { requestedTasks } from '../core/loop/schedule.ts'
import { type Loop, isInProgress } from '../core/loop/loop-state.ts'
import { parseLoopSpec } from '../core/loop/spec.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import { NO_USAGE, type Usage, addUsage } from '../core/session/usage.ts'
import type { Task } from '../core/session/tasks-and-tracker-issues.ts'
import { Trouble, errorMessage, invariant, isRefusal } from '../lib/errors.ts'
import type { LoopEvent } from '../world/agents/loop/loop-agent.ts'
import { parseMailboxEntry, sessionFolder } from '../state/session-folder.ts'
import { type Home, locateHome } from '../state/home.ts'
import { loopFolder, readLoopOrThrow, writeLoop } from '../state/loop-file.ts'
import { readEvents, readStoredSession } from '../world/store/reader.ts'
import type { LoopContext, LoopSession } from './context.ts'
import { connectDrivers } from './compose.ts'
import { runFromRecord } from './run-from-record.ts'
import { describeChanges } from './progress-text.ts'
import { setTimeout as pause } from 'node:timers/promises'
import { connect } from '../api/client.ts'
import type { Duration, Instant } from '../lib/time.ts'
import type { Session } from '../core/session/session-state.ts'

/** Milliseconds that workers get to stop before the loop exits; the supervisor ends the others. */
const STOP_TIMEOUT = 5_000
/** The exit code of an interrupted program. */
const INTERRUPTED = 130

/**
 * The main program of a loop. The supervisor restarts it after each crash; its actions follow only from its stored
 * state and from what it observes.
 */
export async function runLoop(argv: readonly string[]): Promise<void> {
  const home = locateHome(process.env)
  const stored = readOwnSession(home)
  const session = toLoopSession(home, stored)
  const context = await connectDrivers(home, {
    spec: parseLoopSpec(argv),
    session,
    logFolder: path.join(loopFolder(home, session.id), 'logs'),
  })
  const loop = readKnownLoop(home, session.id)
  emit({ type: 'loop', thread: session.id })
  const ending = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => ending.abort())
  void restartLostSupervisor(home, ending.signal)
  const readLastStop = (): Instant | undefined => lastStop(readEvents(home, session.id))
  const record = { loop, resumedAt: stored.clockSince, readLastStop }
  const hooks = { record: (next: Loop) => writeLoop(home, session.id, next), onChange: announce }
  const last = await runFromRecord(context, record, hooks, ending.signal)
  if (ending.signal.aborted) return await stopWorkersAndExit(context)
  announceEnd(last, context)
}

function readOwnSession(home: Home): Session {
  const own = parseMailboxEntry(process.env['ONESHOT_ATTEMPT'] ?? '')
  const session = own === null ? undefined : readStoredSession(home, own.sessionId)
  invariant(session !== undefined, 'a loop runs in a session of its own; start one with: oneshot ralph')
  return session
}

function toLoopSession(home: Home, { spec: { id, name, task, cwd } }: Session): LoopSession {
  return { id, name, task, cwd, prompt: fs.readFileSync(sessionFolder(home, id).prompt, 'utf8') }
}

/** An unreadable record ends the loop: a fresh start would repeat all work. */
function readKnownLoop(home: Home, id: SessionId): Loop | undefined {
  try {
    return readLoopOrThrow(home, id)
  } catch (cause) {
    if (!(cause instanceof Trouble)) throw cause
    emit({ type: 'loop', thread: id })
    emit({ type: 'ended', kind: 'unfinished', text: errorMessage(cause) })
    process.exit(0)
  }
}

function announce(before: Loop, after: Loop): void {
  for (const text of describeChanges(before, after)) emit({ type: 'say', text })
  const tasks = tasksOf(after)
  if (JSON.stringify(tasks) !== JSON.stringify(tasksOf(before))) emit({ type: 'tasks', tasks })
  const spending = totalSpending(after)
  if (JSON.stringify(spending) !== JSON.stringify(totalSpending(before))) emit({ type: 'spent', spending })
}

function tasksOf(loop: Loop): Omit<Task, 'source'>[] {
  return requestedTasks(loop).map(task => ({
    id: task.item.label,
    title: task.item.title,
    state: task.state.name === 'done' ? 'done' : isInProgress(task) ? 'doing' : 'open',
  }))
}

function totalSpending({ tasks, plan }: Loop): Usage {
  return [...plan, ...tasks.flatMap(({ tries }) => tries)].map(({ spent }) => spent).reduce(addUsage, NO_USAGE)
}

/** Emits the last event. Readers rely on it, so the loop has no work left at this point. */
function announceEnd({ stage, spec }: Loop, { session }: LoopContext): void {
  invariant(stage.name === 'ended', 'a loop ends only at its end')
  const { kind, reason } = stage.ending
  if (kind === 'planned' && spec.plan === 'first') {
    emit({
      type: 'ended',
      kind: 'review',
      text: `${reason}: look at it, then continue with: oneshot resume ${session.name}`,
    })
  } else emit({ type: 'ended', kind, text: reason })
}

async function stopWorkersAndExit({ workers }: LoopContext): Promise<void> {
  // The supervisor ends the remaining workers.
  await workers.stopAll(AbortSignal.timeout(STOP_TIMEOUT)).catch(() => undefined)
  process.exit(INTERRUPTED)
}

/** Writes one line synchronously, so that a crash loses none. */
function emit(event: LoopEvent): void {
  fs.writeSync(1, `${JSON.stringify(event)}\n`)
}

/** A keeper restarts its supervisor within a second; after two failed probes there is no keeper. */
const CHECK_INTERVAL: Duration = 1_500
/** The longest pause between two starts: more keepers do not help a supervisor that cannot start. */
const MAX_DELAY: Duration = 60_000

/**
 * Restarts the supervisor if both supervisor and keeper are gone. The shim of a worker does so when its worker ends,
 * but between two workers no shim runs: the loop would wait forever. It respects a supervisor that the user stopped on
 * purpose.
 */
export async function restartLostSupervisor(home: Home, ending: AbortSignal): Promise<void> {
  let missed = 0
  let delay = 0
  while (!ending.aborted) {
    await pause(CHECK_INTERVAL + delay, undefined, { signal: ending, ref: false }).catch(() => undefined)
    if (ending.aborted) return
    if (fs.existsSync(home.downMarker) || (await isSupervisorReachable(home))) {
      missed = 0
      delay = 0
    } else if (++missed >= 2) {
      const { startKeeper } = await import('../state/keeper.ts')
      startKeeper(home)
      delay = Math.min(MAX_DELAY, delay * 2 + CHECK_INTERVAL)
    }
  }
}

/** A supervisor that accepts connections and does not answer is busy or stuck; the next command handles that. */
async function isSupervisorReachable(home: Home): Promise<boolean> {
  try {
    return (await connect(home.daemonSocket).findDaemon()) !== undefined
  } catch (cause) {
    if (isRefusal(cause)) return true
    throw cause
  }
}
