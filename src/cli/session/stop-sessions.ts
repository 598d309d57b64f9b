import type { Client } from '../../api/client.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { SessionView } from '../../api/contract/responses.ts'
import { Refusal } from '../../lib/errors.ts'
import type { Duration } from '../../lib/time.ts'
import { DiskReserve } from '../../state/disk-reserve.ts'
import { readWorkers } from '../../views/session-search.ts'
import { ensureDaemon, findRespondingDaemon } from '../daemon/ensure-daemon.ts'
import { isLive, withoutWorkers } from './find-session.ts'
import { INTERRUPTED, untilInterrupted, TIMED_OUT } from '../terminal/interrupts.ts'
import type { CommandContext } from '../context.ts'
import { shownName, stateLine } from './format-session.ts'
import { waitForEnd } from './wait.ts'

/** Interrupt, terminate and kill take about ten seconds together; a minute means a failure. */
const STOP_TIMEOUT: Duration = 60_000

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
    screen.err.printLine(`stopping ${requested.map(view => view.name).join(', ')} …`)
  const outcome = await untilInterrupted(screen, { timeout: options.timeout ?? STOP_TIMEOUT }, signal =>
    Promise.all(
      [...requested, ...workers].map(view =>
        waitForEnd(home, view, { signal, onChange: view => void latest.set(view.id, view) }),
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
 * Asks the supervisor for a stop or a hold. On a full disk a supervisor may lack the space to start, while the agents
 * use all space that becomes free: then the command stores its request and ends the processes itself, before it starts
 * a supervisor, which records both. On a disk that became read-only nobody can record anything: then the command ends
 * the processes, and says so.
 */
export async function requestStop<T>(
  context: CommandContext,
  sessions: readonly SessionView[],
  request: 'stop' | 'hold',
  send: (client: Client) => Promise<T>,
): Promise<T> {
  const { home, env } = context
  const endAll = async (): Promise<void> => {
    const { endProcesses } = await import('./end-processes.ts')
    const by = env['ONESHOT_SESSION'] ?? null
    await Promise.all(sessions.map(session => endProcesses(home, session, { type: request, by })))
  }
  try {
    const cannotStart = new DiskReserve(home).isDiskFull && (await findRespondingDaemon(home)) === undefined
    if (cannotStart) await endAll()
    return await send(await ensureDaemon(context))
  } catch (cause) {
    // A session may stop only those that it has started, and only the supervisor knows them.
    const isReadOnly = cause instanceof Refusal && cause.code === 'home-unusable' && !env['ONESHOT_ATTEMPT']
    if (!isReadOnly) throw cause
    await endAll()
    const names = sessions.map(shownName).join(', ')
    throw refusal(
      'home-unusable',
      `the processes of ${names} have ended, but ${cause.message}: oneshot could not record the ${request}`,
      `make it writable, then repeat the command: otherwise oneshot may start them again`,
    )
  }
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
