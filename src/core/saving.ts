import type { Trigger } from './checkpoint.ts'
import type { Event } from './events.ts'
import { isIdle, type Session } from './session.ts'
import type { Step } from './step.ts'

/** The same decision, with a checkpoint wanted where something came to an end or goes on elsewhere. */
export function wantCheckpoint(decided: Step, before: Session): Step {
  const { session, events } = decided
  if (session.spec.saving.mode === 'off') return decided
  const wishes = events.flatMap(event => {
    const trigger = triggerOf(session, event, before)
    return trigger === null ? [] : [{ trigger, at: event.at }]
  })
  const wanted = wishes.find(({ trigger }) => trigger !== 'news') ?? wishes[0]
  return wanted === undefined ? decided : { ...decided, session: { ...session, saved: { ...session.saved, wanted } } }
}

function triggerOf(session: Session, event: Event, { phase }: Session): Trigger | null {
  switch (event.type) {
    case 'session.ended':
      return event.outcome === 'done' ? 'end' : event.outcome === 'stopped' ? 'stop' : 'error'
    case 'session.blocked':
      // While it lives, nothing has come to an end.
      return !isIdle(session) ? null : event.trouble === 'held' ? 'stop' : 'error'
    case 'session.resting':
      return event.cause === 'crash' || event.cause === 'reboot' ? 'restart' : 'error'
    case 'session.woken':
      return 'start'
    case 'message.accepted':
      return isToldElsewhere(session) ? 'news' : null
    case 'task.changed':
      return isToldElsewhere(session) && event.task.state === 'done' ? 'news' : null
    case 'attempt.launched':
      // A turn is over, and the next message is given.
      return phase.name === 'stopping' && phase.next.kind === 'next' ? 'end' : null
    default:
      return null
  }
}

/** Whether somebody may go on with it who has nothing but what is pushed. */
function isToldElsewhere({ spec, saved }: Session): boolean {
  return spec.saving.push !== null && saved.last !== null
}
