import { spawn } from 'node:child_process'
import { refusal } from '../../api/contract/problems.ts'
import type { SessionView } from '../../api/contract/session-view.ts'
import type { Duration } from '../../lib/time.ts'
import { hasCode } from '../../lib/trouble.ts'
import { attachTarget } from '../../views/attach-target.ts'
import { readSession } from '../../views/sessions.ts'
import { isLoop } from '../../views/way-on.ts'
import type { Home } from '../../world/os/home.ts'
import { runTmux } from '../../world/os/tmux-input.ts'
import { isLive } from '../find-session.ts'
import type { Line } from '../line/line.ts'
import { isTerminal } from '../screen/is-terminal.ts'
import type { Paint } from '../screen/paint.ts'
import { pickSession } from '../session/pick-session.ts'
import { shownName, stateLine } from '../session/state.ts'
import { untilEnded } from '../session/until-ended.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

/** Ending what a program left behind takes two seconds at most, unless it is stubborn. */
const END_PATIENCE: Duration = 3_000

export async function attach(line: Line, surroundings: Surroundings): Promise<number> {
  const { screen, home, env } = surroundings
  const session = pickSession(surroundings, line.words[0])
  if (!isLive(session)) {
    throw refusal(
      'session-ended',
      `${shownName(session)} has ended: ${session.reason ?? session.outcome}`,
      `oneshot log ${shownName(session)}`,
    )
  }
  if (!isTerminal(0) || !isTerminal(1)) {
    throw refusal(
      'not-a-terminal',
      'attach needs a terminal for its input and output',
      `oneshot follow ${shownName(session)}`,
    )
  }
  if (session.phase === 'blocked' && session.pid === null) {
    throw refusal(
      'session-ended',
      `${shownName(session)} has nothing to attach to: ${session.reason}`,
      `oneshot resume ${shownName(session)}`,
    )
  }
  if (session.phase === 'resting') {
    throw refusal(
      'session-ended',
      `${shownName(session)} is resting until ${session.until}: ${session.reason}`,
      `oneshot follow ${shownName(session)}`,
    )
  }
  const readOnly = line.has(OPTIONS.readOnly) ? ['-r'] : []
  const look = (): Promise<number | null> => lookAt(attachTarget(home, session), readOnly, env)
  const code = isLoop(session) ? await besideWorkers(surroundings, session, look) : await look()
  const after = await afterwards(home, session)
  if (code !== 0 && isLive(after)) throw couldNotAttach(after)
  screen.err.say(farewell(session, after, screen.err.paint))
  return 0
}

/** A terminal that goes away takes its windows with it, so we stay for that. */
async function besideWorkers<T>({ home, env }: Surroundings, loop: SessionView, look: () => Promise<T>): Promise<T> {
  const { WorkerWindows } = await import('../attach/worker-windows.ts')
  const stay = (): void => undefined
  process.on('SIGHUP', stay).on('SIGTERM', stay)
  const windows = new WorkerWindows(home, loop, env)
  try {
    return await look()
  } finally {
    await windows.close()
    process.off('SIGHUP', stay).off('SIGTERM', stay)
  }
}

function farewell(before: SessionView, after: SessionView, paint: Paint): string {
  if (after.attempt > before.attempt)
    return `attempt ${before.attempt} has ended; ${shownName(after)} continues in attempt ${after.attempt}`
  return after.pid === null ? stateLine(after, paint) : `detached; ${shownName(after)} continues`
}

/** A terminal that closed because the work is over does so a moment before the end is recorded. */
async function afterwards(home: Home, session: SessionView): Promise<SessionView> {
  const now = readSession(home, session.id) ?? session
  const isGoing = now.phase === 'stopping' && now.pid === null
  return isGoing ? await untilEnded(home, now, { signal: AbortSignal.timeout(END_PATIENCE) }) : now
}

function couldNotAttach({ name }: SessionView): Error {
  return refusal('world-failed', `tmux could not attach to ${name}`, `oneshot follow ${name}, or oneshot doctor`)
}

/** By the number that tmux gave to the session: other users can read the arguments, and the name has words of the prompt. */
async function lookAt(
  { socket, session }: { socket: string; session: string },
  options: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<number | null> {
  const ask = ['display-message', '-p', '-t', `=${session}:`, '#{session_id}']
  const { stdout } = await runTmux({ program: 'tmux', socket }, ask, { env, timeout: 10_000 }).catch(translated)
  const id = stdout.trim()
  // -u: without LANG, tmux would show every character beyond ASCII as `_`.
  return id === ''
    ? null
    : await inThisTerminal('tmux', ['-u', '-S', socket, 'attach-session', ...options, '-t', id], env)
}

function translated(cause: unknown): never {
  throw hasCode(cause, 'ENOENT') ? refusal('tmux-missing', 'tmux is not on PATH', 'oneshot doctor') : cause
}

/** Hands the terminal over. Within another tmux, that one's variables would make tmux refuse to nest. */
function inThisTerminal(program: string, argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number | null> {
  const { TMUX: _tmux, TMUX_PANE: _pane, ...clean } = env
  return new Promise((resolve, reject) => {
    const child = spawn(program, argv, { stdio: 'inherit', env: clean })
    const ignore = (): void => undefined
    process.on('SIGINT', ignore)
    child.on('error', cause => {
      process.off('SIGINT', ignore)
      reject(cause)
    })
    child.on('close', code => {
      process.off('SIGINT', ignore)
      resolve(code)
    })
  })
}
