import type { Session } from '../session/session-state.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import { formatIso } from '../../lib/time.ts'

const MAX_LENGTH = 100

/** Describes a session's state in one line, for a terminal's status line. */
export function statusLine(session: Session): string {
  const { number: attempt, activity } = session.attempt
  const call = activity.tools.at(-1)
  const doing = activity.retrying?.text ?? (call === undefined ? '' : `${call.tool} ${call.summary}`)
  const parts = [describePhase(session), attempt > 1 ? `attempt ${attempt}` : '', doing]
  return toOneLine(parts.filter(part => part !== '').join(' · ')).slice(0, MAX_LENGTH)
}

function describePhase({ phase }: Session): string {
  switch (phase.name) {
    case 'starting':
    case 'running':
      return phase.name
    case 'resting':
      return `resting until ${formatIso(phase.until).slice(11, 19)} UTC · ${phase.reason}`
    case 'waiting':
    case 'blocked':
      return phase.trouble === 'held' ? phase.question : `waiting for you · ${phase.question}`
    case 'stopping':
    case 'verifying':
      return `ending · ${phase.next.reason}`
    case 'ended':
      return `${phase.outcome} · ${phase.reason}`
  }
}
