import type { SessionView } from '../api/contract/responses.ts'
import { LOOP_KINDS } from '../api/contract/agent-kinds.ts'
import type { Loop } from '../core/loop/loop.ts'
import { NO_USAGE, addUsage, describeUsage } from '../core/session/usage.ts'

/** What a session is, in one word: its phase while it lives, its outcome after; `held` when its user paused it. */
export type DisplayState =
  | Exclude<SessionView['phase'], 'ended'>
  | NonNullable<SessionView['outcome']>
  | 'held'
  | 'ended'

const SYMBOLS: { readonly [S in DisplayState]: string } = {
  starting: '◌',
  running: '●',
  resting: '◔',
  blocked: '▲',
  held: '‖',
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
  return session.phase === 'blocked' && session.trouble === 'held' ? 'held' : session.phase
}

/** Symbol and word, so that nothing hangs on the colour. */
export function renderState(session: SessionView, symbol?: string): string {
  const state = displayState(session)
  return `${symbol ?? SYMBOLS[state]} ${state}`
}

/** Whether it has others work for it. */
export function isLoop({ agent }: SessionView): boolean {
  return LOOP_KINDS.includes(agent)
}

/** Whether it has an agent that reads. */
export function takesMessages(session: SessionView): boolean {
  return session.agent !== 'command' && !isLoop(session)
}

/** Whether `resume` can take it up: nothing of it lives, and something is left to do. */
export function isResumable(session: SessionView): boolean {
  const { phase, pid, outcome, messages } = session
  if (phase === 'resting') return true
  if (phase === 'blocked') return pid === null
  if (phase !== 'ended' || session.agent === 'command') return false
  return outcome !== 'done' || messages.confirmed < messages.accepted
}

/** The one command that makes it go on; null where there is none, or none is needed. */
export function findNextCommand(session: SessionView): string | null {
  const cwdOption = session.reason?.includes(`its folder ${session.cwd} is gone`) ? ' --cwd DIR' : ''
  if (isResumable(session)) return `oneshot resume ${session.name}${cwdOption}`
  return session.phase === 'blocked' && session.mode === 'tty' ? `oneshot attach ${session.name}` : null
}

/** What a person can do for a session that waits for them. */
export function describeAnswer(session: SessionView): string {
  const { name } = session
  const command = findNextCommand(session)
  if (command !== null) return `continue with: ${command}`
  return `a headless session cannot receive an answer: oneshot stop ${name}, and run it again with --tty`
}

/** What a session has used up, as a sentence; null while it has used nothing. */
export function describeSpent({ spent }: SessionView): string | null {
  const { turns, inputTokens: input, cachedTokens: cached, outputTokens: output, costUsd: usd } = spent
  const isNothing = turns === 0 && input === 0 && output === 0 && (usd ?? 0) === 0
  return isNothing ? null : describeUsage({ turns, input, cached, output, usd })
}

/** `$0.42`; a dash where the agent's program tells no cost. */
export function describeCost({ spent: { costUsd } }: SessionView): string {
  return costUsd === null ? '-' : `$${costUsd.toFixed(2)}`
}

/** The sum of all iterations of a loop. */
export function sumLoopSpent({ tasks, plan }: Loop): SessionView['spent'] {
  const all = [...plan, ...tasks.flatMap(({ tries }) => tries)].map(({ spent }) => spent).reduce(addUsage, NO_USAGE)
  const { turns, input, cached, output, usd } = all
  return { turns, inputTokens: input, cachedTokens: cached, outputTokens: output, costUsd: usd }
}
