import type { Session } from '../core/session.ts'
import { oneLine } from '../lib/terminal-text.ts'
import { iso } from '../lib/time.ts'

const LONGEST = 100

/** How a session is doing, in the one line that a terminal's status line has room for. */
export function captionOf(session: Session): string {
  const { attempt, activity } = session
  const call = activity.tools.at(-1)
  const doing = activity.retrying?.text ?? (call === undefined ? '' : `${call.tool} ${call.gist}`)
  const parts = [stateOf(session), attempt > 1 ? `attempt ${attempt}` : '', doing]
  return oneLine(parts.filter(part => part !== '').join(' · ')).slice(0, LONGEST)
}

function stateOf({ phase }: Session): string {
  switch (phase.name) {
    case 'starting':
    case 'running':
      return phase.name
    case 'resting':
      return `resting until ${iso(phase.until).slice(11, 19)} UTC · ${phase.reason}`
    case 'blocked':
      return phase.trouble === 'held' ? phase.question : `waiting for you · ${phase.question}`
    case 'stopping':
      return `ending · ${phase.next.reason}`
    case 'ended':
      return `${phase.outcome} · ${phase.reason}`
  }
}
