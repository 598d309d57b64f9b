import type { SessionView } from '../../api/contract/session-view.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import type { Paint, Shade } from '../screen/paint.ts'

/** What a session is, in one word: its phase while it lives, its outcome after. */
export type State = Exclude<SessionView['phase'], 'ended'> | NonNullable<SessionView['outcome']> | 'ended'

const LOOKS: { readonly [S in State]: { readonly symbol: string; readonly shade: Shade } } = {
  starting: { symbol: '◌', shade: 'cyan' },
  running: { symbol: '●', shade: 'green' },
  resting: { symbol: '◔', shade: 'yellow' },
  blocked: { symbol: '▲', shade: 'magenta' },
  stopping: { symbol: '◍', shade: 'yellow' },
  done: { symbol: '✔', shade: 'green' },
  failed: { symbol: '✖', shade: 'red' },
  stopped: { symbol: '■', shade: 'dim' },
  'gave-up': { symbol: '✖', shade: 'red' },
  ended: { symbol: '■', shade: 'dim' },
}

function stateOf(session: SessionView): State {
  return session.phase === 'ended' ? (session.outcome ?? 'ended') : session.phase
}

/** Symbol and word, so that nothing hangs on the colour. */
export function stateLabel(session: SessionView): string {
  const state = stateOf(session)
  return `${LOOKS[state].symbol} ${state}`
}

export function paintState(text: string, session: SessionView, paint: Paint): string {
  return paint[LOOKS[stateOf(session)].shade](text)
}

/** `✔ done demo-fix-auth: exit code 0` */
export function stateLine(session: SessionView, paint: Paint): string {
  const label = paintState(stateLabel(session), session, paint)
  const reason = session.reason === null ? '' : `: ${oneLine(session.reason)}`
  return `${label} ${session.name}${reason}`
}
