import { spawn } from 'node:child_process'
import { shownName } from '../../api/contract/shown-name.ts'
import { refusal } from '../../api/contract/problems.ts'
import type { SessionView } from '../../api/contract/responses.ts'
import type { Duration } from '../../lib/time.ts'
import { hasCode, NOT_FOUND } from '../../lib/errors.ts'
import { findAttachTarget } from '../../views/read-session.ts'
import { readSession } from '../../views/read-session.ts'
import { isLoop } from '../../views/describe-session.ts'
import type { Home } from '../../state/home.ts'
import { runTmux } from '../../os/run-tmux.ts'
import { isLive } from '../session/find-session.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import type { Paint } from '../terminal/colors.ts'
import { pickSession } from '../session/find-session.ts'
import { stateLine } from '../session/format-session.ts'
import { waitForEnd } from '../session/wait.ts'
import type { Command, CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { sessionArgument } from '../args/command-definition.ts'

export const command: Command = {
  name: 'attach',
  group: 'Work',
  order: 80,
  summary: 'enter a session’s terminal',
  about: `Leave with Ctrl-b d; the work continues. Inside another tmux the keys are Ctrl-b Ctrl-b d.
A loop has one window for its own log and one for each of its agents: Ctrl-b n and p
switch between them, Ctrl-b w lists them.`,
  arguments: [sessionArgument('live')],
  options: [OPTIONS.readOnly],
  examples: [
    { argv: ['attach'], description: 'this directory’s most recent session' },
    { argv: ['attach', 'fix-auth', '--read-only'], description: 'look without typing' },
  ],
  run: attach,
}

/** Ending the processes that a program left behind takes two seconds at most, unless they ignore signals. */
const END_TIMEOUT: Duration = 3_000

async function attach(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { screen, home } = context
  const session = pickSession(context, args.positionals[0])
  if (!isLive(session)) {
    throw refusal(
      'session-ended',
      `${shownName(session)} has ended: ${session.reason ?? session.outcome}`,
      `oneshot log ${shownName(session)}`,
    )
  }
  if (!screen.input.isTerminal || !screen.out.isTerminal) {
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
  const readOnly = args.has(OPTIONS.readOnly) ? ['-r'] : []
  const attachOnce = (): Promise<number | null> => attachToTmux(findAttachTarget(home, session), readOnly, context)
  const code = isLoop(session) ? await withWorkerWindows(context, session, attachOnce) : await attachOnce()
  const finalState = await readFinalState(home, session)
  if (code !== 0 && isLive(finalState)) throw attachFailed(finalState)
  screen.err.printLine(detachMessage(session, finalState, screen.err.paint))
  return 0
}

/** A terminal that closes sends the first, a shutdown the second. */
const CLOSING_SIGNALS = ['SIGHUP', 'SIGTERM'] as const

/** Keeps this process alive after SIGHUP and SIGTERM, so that it can close the worker windows of a closed terminal. */
async function withWorkerWindows<T>(
  { home, env, screen: { signals } }: CommandContext,
  loop: SessionView,
  attachOnce: () => Promise<T>,
): Promise<T> {
  const { WorkerWindows } = await import('../loop/worker-windows.ts')
  const ignoreSignal = (): void => undefined
  for (const signal of CLOSING_SIGNALS) signals.on(signal, ignoreSignal)
  const windows = new WorkerWindows(home, loop, env)
  try {
    return await attachOnce()
  } finally {
    await windows.close()
    for (const signal of CLOSING_SIGNALS) signals.off(signal, ignoreSignal)
  }
}

function detachMessage(before: SessionView, after: SessionView, paint: Paint): string {
  if (after.attempt > before.attempt)
    return `attempt ${before.attempt} has ended; ${shownName(after)} continues in attempt ${after.attempt}`
  return after.pid === null ? stateLine(after, paint) : `detached; ${shownName(after)} continues`
}

/** When the work ends, its terminal closes a moment before the supervisor records the end. */
async function readFinalState(home: Home, session: SessionView): Promise<SessionView> {
  const now = readSession(home, session.id) ?? session
  const isEnding = now.phase === 'stopping' && now.pid === null
  return isEnding ? await waitForEnd(home, now, { signal: AbortSignal.timeout(END_TIMEOUT) }) : now
}

function attachFailed({ name }: SessionView): Error {
  return refusal('world-failed', `tmux could not attach to ${name}`, `oneshot follow ${name}, or oneshot doctor`)
}

/**
 * Names the tmux session by its number: other users can read the arguments, and the name contains words of the prompt.
 */
async function attachToTmux(
  { socket, session }: { socket: string; session: string },
  options: readonly string[],
  context: CommandContext,
): Promise<number | null> {
  const { env } = context
  const query = ['display-message', '-p', '-t', `=${session}:`, '#{session_id}']
  const { stdout } = await runTmux({ program: 'tmux', socket }, query, { env, timeout: 10_000 }).catch(throwTmuxError)
  const id = stdout.trim()
  // -u: without LANG, tmux would show every character beyond ASCII as `_`.
  return id === ''
    ? null
    : await runInTerminal('tmux', ['-u', '-S', socket, 'attach-session', ...options, '-t', id], context)
}

function throwTmuxError(cause: unknown): never {
  throw hasCode(cause, ...NOT_FOUND) ? refusal('tmux-missing', 'tmux is not on PATH', 'oneshot doctor') : cause
}

/** Hands the terminal over. Within another tmux, that one's variables would make tmux refuse to nest. */
function runInTerminal(
  program: string,
  argv: readonly string[],
  { env, screen: { signals } }: CommandContext,
): Promise<number | null> {
  const { TMUX: _tmux, TMUX_PANE: _pane, ...clean } = env
  return new Promise((resolve, reject) => {
    const child = spawn(program, argv, { stdio: 'inherit', env: clean })
    const ignore = (): void => undefined
    signals.on('SIGINT', ignore)
    child.on('error', cause => {
      signals.off('SIGINT', ignore)
      reject(cause)
    })
    child.on('close', code => {
      signals.off('SIGINT', ignore)
      resolve(code)
    })
  })
}
