import type { SessionView } from '../api/contract/session-view.ts'

/** What a session is, in one word: its phase while it lives, its outcome after. */
export type State = Exclude<SessionView['phase'], 'ended'> | NonNullable<SessionView['outcome']> | 'ended'

const SYMBOLS: { readonly [S in State]: string } = {
  starting: '◌',
  running: '●',
  resting: '◔',
  blocked: '▲',
  stopping: '◍',
  done: '✔',
  failed: '✖',
  stopped: '■',
  'gave-up': '✖',
  ended: '■',
}

export function stateOf(session: SessionView): State {
  return session.phase === 'ended' ? (session.outcome ?? 'ended') : session.phase
}

/** Symbol and word, so that nothing hangs on the colour. */
export function stateLabel(session: SessionView): string {
  const state = stateOf(session)
  return `${SYMBOLS[state]} ${state}`
}
