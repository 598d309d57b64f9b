import type { Client } from '../../api/client.ts'
import { shownName } from '../../api/contract/shown-name.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { SessionView } from '../../api/contract/responses.ts'
import { formatBytes } from '../../lib/bytes.ts'
import { errorMessage, Refusal } from '../../lib/errors.ts'
import type { Duration } from '../../lib/time.ts'
import { DiskReserve } from '../../state/disk-reserve.ts'
import type { Home } from '../../state/home.ts'
import { readWorkers } from '../../views/session-search.ts'
import { ensureDaemon, findRespondingDaemon } from '../daemon/start-and-stop-daemon.ts'
import { isLive, withoutWorkers } from './find-session.ts'
import { INTERRUPTED, untilInterrupted, TIMED_OUT } from '../terminal/interrupts.ts'
import type { CommandContext } from '../context.ts'
import { stateLine } from './format-session.ts'
import { waitForEnd } from './wait.ts'

/** Interrupt, terminate and kill take about ten seconds together; a minute means a failure. */
const STOP_TIMEOUT: Duration = 60_000
/** Times that a command makes space on a full disk and repeats its request. */
const RECORD_TRIES = 3
/** Milliseconds. The supervisor repeats a failed record every five seconds. */
const SPACE_INTERVAL: Duration = 5_000

export interface StopResult {
  readonly views: readonly SessionView[]
  readonly code: number
}

/** Stops sessions in parallel and waits until none of their processes is left. */
export async function stopSessions(
  context: CommandContext,
  sessions: readonly SessionView[],
  options: { timeout: Duration | undefined; wait: boolean; now?: boolean },
): Promise<StopResult> {
  const { home, screen } = context
  // A loop that stops ends its workers itself, so the command must not stop them separately.
  const topLevel = withoutWorkers(sessions)
  const requested = await requestStop(context, sessions, 'stop', client =>
    Promise.all(
      topLevel.map(session => ignoreEnded(session, client.stop(session.id, options.now === true ? { now: true } : {}))),
    ),
  )
  if (!options.wait) return { views: requested, code: 0 }
  const workers = topLevel.flatMap(session => readWorkers(home, session).filter(isLive))
  const latest = new Map([...requested, ...workers].map(view => [view.id, view]))
  if (screen.err.isTerminal && !screen.isQuiet)
    screen.err.printLine(`stopping ${requested.map(shownName).join(', ')} …`)
  const outcome = await untilInterrupted(screen, { timeout: options.timeout ?? STOP_TIMEOUT }, signal =>
    makeSpaceWhile(context, { sessions: () => [...latest.values()], request: 'stop' }, () =>
      Promise.all(
        [...requested, ...workers].map(view =>
          waitForEnd(home, view, { signal, onChange: view => void latest.set(view.id, view) }),
        ),
      ),
    ),
  )
  const views = [...latest.values()]
  if (outcome.ended === 'by-itself') return { views, code: 0 }
  const unfinished = views.filter(view => view.phase !== 'ended')
  for (const view of unfinished) screen.err.printLine(`not ended yet: ${stateLine(view, screen.err.paint)}`)
  return { views, code: outcome.ended === 'interrupted' ? INTERRUPTED : TIMED_OUT }
}

/**
 * Asks the supervisor for a stop or a hold. On a full disk a supervisor may lack the space to start or to record the
 * request, while the agents use all space that becomes free: then the command stores its request and ends the processes
 * itself, and the supervisor records both. On a disk that became read-only nobody can record anything: then the command
 * ends the processes, and says so.
 */
export async function requestStop<T>(
  context: CommandContext,
  sessions: readonly SessionView[],
  request: 'stop' | 'hold',
  send: (client: Client) => Promise<T>,
): Promise<T> {
  const { home, env } = context
  const endAll = async (): Promise<void> => {
    const { endProcesses } = await import('./end-processes-without-supervisor.ts')
    const by = env['ONESHOT_SESSION'] ?? null
    await Promise.all(sessions.map(session => endProcesses(home, session, { type: request, by })))
  }
  try {
    const cannotStart = new DiskReserve(home).isDiskFull && (await findRespondingDaemon(home)) === undefined
    if (cannotStart) await endAll()
    return await send(await ensureDaemon(context))
  } catch (cause) {
    // A session may stop only those that it has started, and only the supervisor knows them.
    const obstacle = env['ONESHOT_ATTEMPT'] ? null : findObstacle(home, cause)
    if (obstacle === null) throw cause
    await endAll()
    if (obstacle === 'disk-full') return await retryWithSpace(context, sessions, request, send)
    throw refusal(
      'home-unusable',
      `the processes of ${listNames(sessions)} have ended, but ${errorMessage(cause)}: oneshot could not record the ${request}`,
      `make it writable, then repeat the command: otherwise oneshot may start them again`,
    )
  }
}

/** Returns why the supervisor could not record a request; null if the disk is not the reason. */
function findObstacle(home: Home, cause: unknown): 'disk-full' | 'home-unusable' | null {
  if (!(cause instanceof Refusal)) return null
  if (cause.code === 'disk-full' || cause.code === 'home-unusable') return cause.code
  return cause.code === 'daemon-unreachable' && new DiskReserve(home).isDiskFull ? 'disk-full' : null
}

/**
 * Repeats a request whose processes have ended. If the disk has no space to record it, removes the end of the sessions'
 * output; other processes may take that space, so it tries several times.
 */
async function retryWithSpace<T>(
  context: CommandContext,
  sessions: readonly SessionView[],
  request: 'stop' | 'hold',
  send: (client: Client) => Promise<T>,
): Promise<T> {
  const { home } = context
  for (let tries = 1; ; tries++) {
    await makeSpace(context, sessions, request)
    try {
      return await send(await ensureDaemon(context))
    } catch (cause) {
      if (findObstacle(home, cause) !== 'disk-full') throw cause
      if (tries < RECORD_TRIES) continue
      throw refusal(
        'disk-full',
        `the processes of ${listNames(sessions)} have ended, but the disk of ${home.root} is full: the supervisor records the ${request} when there is space`,
        'free some space, then repeat the command',
      )
    }
  }
}

/**
 * Waits for the end of sessions. As long as the disk is full and their processes have ended, the supervisor may lack the
 * space to record that: then this makes space.
 */
export async function makeSpaceWhile<T>(
  context: CommandContext,
  { sessions, request }: { sessions: () => readonly SessionView[]; request: 'stop' | 'hold' },
  wait: () => Promise<T>,
): Promise<T> {
  const timer = setInterval(() => {
    const ended = sessions().filter(({ phase, pid }) => phase === 'stopping' && pid === null)
    void makeSpace(context, ended, request)
  }, SPACE_INTERVAL)
  try {
    return await wait()
  } finally {
    clearInterval(timer)
  }
}

/** Removes the end of the sessions' output if the disk is full. */
async function makeSpace(
  { home, screen }: CommandContext,
  sessions: readonly SessionView[],
  request: 'stop' | 'hold',
): Promise<void> {
  if (!new DiskReserve(home).isDiskFull) return
  const { cutOutput } = await import('./end-processes-without-supervisor.ts')
  for (const session of sessions) {
    const removed = cutOutput(home, session)
    if (removed > 0 && !screen.isQuiet)
      screen.err.printLine(
        `the disk is full: oneshot removed the last ${formatBytes(removed)} of the output of ${shownName(session)}, to record the ${request}`,
      )
  }
}

function listNames(sessions: readonly SessionView[]): string {
  return sessions.map(shownName).join(', ')
}

/** The session may have ended by itself in the meantime, as the user wanted. */
async function ignoreEnded(session: SessionView, call: Promise<SessionView>): Promise<SessionView> {
  try {
    return await call
  } catch (cause) {
    if (cause instanceof Refusal && cause.code === 'session-ended') return session
    throw cause
  }
}
