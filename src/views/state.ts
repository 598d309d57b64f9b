import type { SessionView } from '../api/contract/session-view.ts'

/** What a session is, in one word: its phase while it lives, its outcome after; `held` when its user paused it. */
export type State = Exclude<SessionView['phase'], 'ended'> | NonNullable<SessionView['outcome']> | 'held' | 'ended'

const SYMBOLS: { readonly [S in State]: string } = {
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

export const STATES = Object.keys(SYMBOLS) as readonly State[]

export function stateOf(session: SessionView): State {
  if (session.phase === 'ended') return session.outcome ?? 'ended'
  return session.phase === 'blocked' && session.trouble === 'held' ? 'held' : session.phase
}

/** Symbol and word, so that nothing hangs on the colour. */
export function stateLabel(session: SessionView, symbol?: string): string {
  const state = stateOf(session)
  return `${symbol ?? SYMBOLS[state]} ${state}`
}
