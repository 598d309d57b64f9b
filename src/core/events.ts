import type { Instant } from '../lib/time.ts'
import type { Exit, LastWord, Life, Outcome, StopStep } from './session.ts'

/** What became true. Stored for ever, in order, and shown to people. */
export type Event = { readonly at: Instant } & (
  | { readonly type: 'session.created' }
  | { readonly type: 'attempt.launched'; readonly attempt: number; readonly resume: boolean }
  | { readonly type: 'attempt.started'; readonly attempt: number; readonly life: Life }
  | { readonly type: 'attempt.failed-to-start'; readonly attempt: number; readonly reason: string }
  | { readonly type: 'attempt.ended'; readonly attempt: number; readonly exit: Exit }
  | { readonly type: 'thread.known'; readonly thread: string }
  | { readonly type: 'turn.ended'; readonly word: LastWord }
  | { readonly type: 'session.blocked'; readonly question: string }
  | { readonly type: 'session.unblocked' }
  | { readonly type: 'session.resting'; readonly until: Instant; readonly reason: string }
  | { readonly type: 'session.stopping'; readonly step: StopStep; readonly reason: string }
  | { readonly type: 'session.ended'; readonly outcome: Outcome; readonly reason: string }
)

export type EventType = Event['type']
