import type { Duration, Instant } from '../../lib/time.ts'
import type { Checkpoint } from '../checkpoint/checkpoint.ts'
import type { ThreadId } from './conversation.ts'
import type { Failure, ProblemKind } from './failure.ts'
import type { Exit, TurnResult, ProcessIdentity } from './attempt.ts'
import type { Outcome, RestCause, StopStep } from './session-state.ts'
import type { Usage } from './usage.ts'
import type { Task } from './tasks-and-tracker-issues.ts'

/** A fact about a session. The store keeps events for ever, in order, and people read them. */
export type Event = { readonly at: Instant } & (
  | { readonly type: 'session.created' }
  | {
      readonly type: 'attempt.launched'
      readonly attempt: number
      readonly resume: boolean
      /** The kind of input; absent for commands, and in events of older versions. */
      readonly errand?: 'message' | 'continue' | 'digest'
    }
  | { readonly type: 'attempt.started'; readonly attempt: number; readonly life: ProcessIdentity }
  | { readonly type: 'attempt.failed-to-start'; readonly attempt: number; readonly reason: string }
  | { readonly type: 'attempt.ended'; readonly attempt: number; readonly exit: Exit; readonly spent?: Usage }
  | { readonly type: 'thread.known'; readonly thread: ThreadId }
  | { readonly type: 'thread.given-up'; readonly thread: ThreadId | null; readonly reason: string }
  | { readonly type: 'turn.ended'; readonly word: TurnResult }
  | { readonly type: 'agent.retrying'; readonly failure: Failure }
  | { readonly type: 'agent.unknown'; readonly what: string }
  | { readonly type: 'message.accepted'; readonly message: number; readonly gist: string }
  | { readonly type: 'message.delivered'; readonly message: number; readonly attempt: number }
  | { readonly type: 'message.confirmed'; readonly message: number }
  | { readonly type: 'session.woken' }
  | { readonly type: 'session.blocked'; readonly question: string; readonly trouble?: ProblemKind }
  | { readonly type: 'session.unblocked' }
  | {
      readonly type: 'session.resting'
      readonly until: Instant
      readonly reason: string
      readonly cause?: RestCause
      readonly trouble?: ProblemKind
    }
  | { readonly type: 'session.restarting-often'; readonly restarts: number; readonly within: Duration }
  /** `prove`: no process is left, and the verification begins. */
  | { readonly type: 'session.stopping'; readonly step: StopStep | 'prove'; readonly reason: string }
  | {
      readonly type: 'session.ended'
      readonly outcome: Outcome
      readonly reason: string
      readonly trouble?: ProblemKind | null
    }
  | { readonly type: 'checkpoint.saved'; readonly checkpoint: Checkpoint }
  | { readonly type: 'checkpoint.failed'; readonly reason: string }
  /** The first successful push, or the first one after a failure. */
  | { readonly type: 'checkpoint.pushed'; readonly remote: string; readonly number: number }
  | { readonly type: 'checkpoint.unpushed'; readonly remote: string; readonly reason: string }
  /** A problem beside the work, reported once: a task tracker that does not answer. */
  | { readonly type: 'session.noted'; readonly note: string }
  | { readonly type: 'task.changed'; readonly task: Task }
  /** The hook at the session's end has run; `id` is the one that the hook got in its environment. */
  | {
      readonly type: 'hook.ended'
      readonly hook: 'on-exit'
      readonly id: string
      readonly ok: boolean
      readonly reason: string
    }
)

export type EventType = Event['type']

/** Returns the time at which the session last ended, or began to wait for a person. */
export function lastStop(events: readonly Event[]): Instant | undefined {
  return events.findLast(({ type }) => type === 'session.ended' || type === 'session.blocked')?.at
}
