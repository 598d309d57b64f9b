import type { Client } from '../../api/client.ts'
import type { SessionView } from '../../api/contract/session-view.ts'
import { Refusal } from '../../lib/refusal.ts'
import type { Duration } from '../../lib/time.ts'
import type { Home } from '../../world/os/home.ts'
import { Reserve } from '../../world/os/reserve.ts'
import { readSessions } from '../../views/sessions.ts'
import { ensureDaemon, findAnswering } from '../ensure-daemon.ts'
import { isLive, withoutWorkers } from '../find-session.ts'
import { INTERRUPTED, look, TIMED_OUT } from '../look.ts'
import type { Surroundings } from '../surroundings.ts'
import { stateLine } from './state.ts'
import { untilEnded } from './until-ended.ts'

/** Interrupt, terminate and kill take some ten seconds together; a minute means that something is wrong. */
const PATIENCE: Duration = 60_000

export interface Stopped {
  readonly views: readonly SessionView[]
  readonly code: number
}

/** Stops sessions side by side and waits until nothing of them is left. */
export async function stopSessions(
  surroundings: Surroundings,
  sessions: readonly SessionView[],
  options: { timeout: Duration | undefined; wait: boolean; now?: boolean },
): Promise<Stopped> {
  const { home, screen } = surroundings
  const client = await supervisorFor(home, sessions, 'stop')
  // Who works for a loop that is stopped is ended with it, and not by somebody's hand.
  const heads = withoutWorkers(sessions)
  const asked = await Promise.all(
    heads.map(session => unlessEnded(session, client.stop(session.id, options.now === true ? { now: true } : {}))),
  )
  if (!options.wait) return { views: asked, code: 0 }
  const workers = readSessions(home).filter(view => isLive(view) && heads.some(({ id }) => id === view.parent))
  const latest = new Map([...asked, ...workers].map(view => [view.id, view]))
  if (screen.err.isTerminal && !screen.isQuiet) screen.err.say(`stopping ${asked.map(view => view.name).join(', ')} …`)
  const glance = await look({ timeout: options.timeout ?? PATIENCE }, signal =>
    Promise.all(
      [...asked, ...workers].map(view =>
        untilEnded(home, view, { signal, onChange: change => void latest.set(change.id, change) }),
      ),
    ),
  )
  const views = [...latest.values()]
  if (glance.ended === 'by-itself') return { views, code: 0 }
  const late = views.filter(view => view.phase !== 'ended')
  for (const view of late) screen.err.say(`not ended yet: ${stateLine(view, screen.err.paint)}`)
  return { views, code: glance.ended === 'interrupted' ? INTERRUPTED : TIMED_OUT }
}

/**
 * On a full disk a supervisor may find no room to start, while the work takes whatever becomes free. Then the command stores its
 * request and ends the processes itself, before it starts a supervisor, which records both.
 */
export async function supervisorFor(
  home: Home,
  sessions: readonly SessionView[],
  request: 'stop' | 'hold',
): Promise<Client> {
  const isHelpless = new Reserve(home).isDiskFull && (await findAnswering(home)) === undefined
  if (isHelpless) {
    const { endProcesses } = await import('./end-processes.ts')
    await Promise.all(sessions.map(session => endProcesses(home, session, request)))
  }
  return await ensureDaemon(home)
}

/** It may have ended by itself in the meantime, which is what was wanted. */
async function unlessEnded(session: SessionView, call: Promise<SessionView>): Promise<SessionView> {
  try {
    return await call
  } catch (cause) {
    if (cause instanceof Refusal && cause.code === 'session-ended') return session
    throw cause
  }
}
