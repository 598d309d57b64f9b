import type { SessionView } from '../../api/contract/session-view.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import { type State, stateLabel, stateOf } from '../../views/state.ts'
import type { Paint, Shade } from '../screen/paint.ts'

const SHADES: { readonly [S in State]: Shade } = {
  starting: 'cyan',
  running: 'green',
  resting: 'yellow',
  blocked: 'magenta',
  held: 'yellow',
  stopping: 'yellow',
  done: 'green',
  failed: 'red',
  stopped: 'dim',
  'gave-up': 'red',
  ended: 'dim',
}

export function paintState(text: string, session: SessionView, paint: Paint): string {
  return paint[SHADES[stateOf(session)]](text)
}

/** The name that its user gave it last. JSON, refs and panes keep the first one. */
export function shownName({ label, name }: Pick<SessionView, 'label' | 'name'>): string {
  return label ?? name
}

/** `✔ done demo-fix-auth: exit code 0` */
export function stateLine(session: SessionView, paint: Paint, symbol?: string): string {
  const label = paintState(stateLabel(session, symbol), session, paint)
  const reason = session.reason === null ? '' : `: ${oneLine(session.reason)}`
  return `${label} ${shownName(session)}${reason}`
}
