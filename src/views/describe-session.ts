import type { SessionView } from '../api/contract/responses.ts'
import { shownName } from '../api/contract/shown-name.ts'
import { LOOP_KINDS } from '../api/contract/known-agents.ts'
import type { Loop } from '../core/loop/loop-state.ts'
import { NO_USAGE, addUsage, describeUsage } from '../core/session/usage.ts'

/**
 * The state of a session in one word: its phase while it lives, its outcome after; `held` when its user paused it, and
 * `not-running` when its process has died and no supervisor runs.
 */
export type DisplayState =
  | Exclude<SessionView['phase'], 'ended'>
  | NonNullable<SessionView['outcome']>
  | 'held'
  | 'not-running'
  | 'ended'

const SYMBOLS: { readonly [S in DisplayState]: string } = {
  starting: '◌',
  running: '●',
  resting: '◔',
  blocked: '▲',
  held: '‖',
  'not-running': '○',
  stopping: '◍',
  done: '✔',
  failed: '✖',
  stopped: '■',
  'gave-up': '✖',
  ended: '■',
}

export const DISPLAY_STATES = Object.keys(SYMBOLS) as readonly DisplayState[]

export function displayState(session: SessionView): DisplayState {
  if (session.phase === 'ended') return session.outcome ?? 'ended'
  if (session.isUnsupervised === true) return 'not-running'
  return session.phase === 'blocked' && session.trouble === 'held' ? 'held' : session.phase
}

/** Returns symbol and word, so that no information depends on the colour. */
export function renderState(session: SessionView, symbol?: string): string {
  const state = displayState(session)
  return `${symbol ?? SYMBOLS[state]} ${state}`
}

/** Returns true for a loop, which directs other sessions. */
export function isLoop({ agent }: SessionView): boolean {
  return LOOP_KINDS.includes(agent)
}

/** Returns true when the session has an agent that reads messages. */
export function takesMessages(session: SessionView): boolean {
  return session.agent !== 'command' && !isLoop(session)
}

/** Returns true when `resume` can continue it: no process lives, and work is left. */
export function isResumable(session: SessionView): boolean {
  const { phase, pid, outcome, messages } = session
  if (phase === 'resting') return true
  if (phase === 'blocked') return pid === null
  if (phase !== 'ended' || session.agent === 'command') return false
  return outcome !== 'done' || messages.confirmed < messages.accepted
}

/** Returns the command that continues the session; null when there is none, or the session needs none. */
export function findNextCommand(session: SessionView): string | null {
  const cwdOption = session.reason?.includes(`its folder ${session.cwd} is gone`) ? ' --cwd DIR' : ''
  if (isResumable(session) || session.isUnsupervised === true) return `oneshot resume ${shownName(session)}${cwdOption}`
  return session.phase === 'blocked' && session.mode === 'tty' ? `oneshot attach ${shownName(session)}` : null
}

/** Describes the user's options for a session that waits for an answer. */
export function describeAnswer(session: SessionView): string {
  const command = findNextCommand(session)
  if (command !== null) return `continue with: ${command}`
  return `a headless session cannot receive an answer: oneshot stop ${shownName(session)}, and run it again with --tty`
}

/** Describes the usage of a session; null while there is none. */
export function describeSpent({ spent }: SessionView): string | null {
  const { turns, inputTokens: input, cachedTokens: cached, outputTokens: output, costUsd: usd } = spent
  const isNothing = turns === 0 && input === 0 && output === 0 && (usd ?? 0) === 0
  return isNothing ? null : describeUsage({ turns, input, cached, output, usd })
}

/** Returns the cost, such as `$0.42`, or a dash when the agent reports none. */
export function describeCost({ spent: { costUsd } }: SessionView): string {
  return costUsd === null ? '-' : `$${costUsd.toFixed(2)}`
}

/** Sums the usage of all iterations of a loop. */
export function sumLoopSpent({ tasks, plan }: Loop): SessionView['spent'] {
  const all = [...plan, ...tasks.flatMap(({ tries }) => tries)].map(({ spent }) => spent).reduce(addUsage, NO_USAGE)
  const { turns, input, cached, output, usd } = all
  return { turns, inputTokens: input, cachedTokens: cached, outputTokens: output, costUsd: usd }
}
