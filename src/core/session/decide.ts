import { TABLE } from './table.ts'
import type { Timings } from './defaults.ts'
import { type Session, isIdle } from './session.ts'
import type { Signal } from './signals.ts'
import { type Decision, unchanged } from './decision.ts'
import type { CheckpointTrigger } from '../checkpoint/checkpoint.ts'
import type { Event } from './events.ts'

/**
 * Decides what follows from a signal. Pure. A signal about an attempt that is not the current one is late and changes
 * nothing.
 */
export function decide(session: Session, signal: Signal, timings: Timings): Decision {
  if ('attempt' in signal && signal.attempt !== session.attempt) return unchanged(session)
  const react = TABLE[session.phase.name][signal.type] as (s: Session, g: Signal, r: Timings) => Decision
  return requestCheckpoint(react(session, signal, timings), session)
}

/** Adds a request for a checkpoint to the decision if something ended or the session moves on. */
function requestCheckpoint(decided: Decision, before: Session): Decision {
  const { session, events } = decided
  if (session.spec.saving.mode === 'off') return decided
  const requests = events.flatMap(event => {
    const trigger = triggerOf(session, event, before)
    return trigger === null ? [] : [{ trigger, at: event.at }]
  })
  const wanted = requests.find(({ trigger }) => trigger !== 'news') ?? requests[0]
  return wanted === undefined ? decided : { ...decided, session: { ...session, saved: { ...session.saved, wanted } } }
}

function triggerOf(session: Session, event: Event, { phase }: Session): CheckpointTrigger | null {
  switch (event.type) {
    case 'session.ended':
      return event.outcome === 'done' ? 'end' : event.outcome === 'stopped' ? 'stop' : 'error'
    case 'session.blocked':
      // A live attempt has not ended anything.
      return !isIdle(session) ? null : event.trouble === 'held' ? 'stop' : 'error'
    case 'session.resting':
      return event.cause === 'crash' || event.cause === 'reboot' ? 'restart' : 'error'
    case 'session.woken':
      return 'start'
    case 'message.accepted':
      return isPushed(session) ? 'news' : null
    case 'task.changed':
      return isPushed(session) && event.task.state === 'done' ? 'news' : null
    case 'attempt.launched':
      // A turn is over, and the agent gets the next message.
      return phase.name === 'stopping' && phase.next.kind === 'next' ? 'end' : null
    default:
      return null
  }
}

/** Returns true if somebody who has only the pushed checkpoints may continue the session. */
function isPushed({ spec, saved }: Session): boolean {
  return spec.saving.push !== null && saved.last !== null
}
