import type { Instant } from '../../lib/time.ts'
import type { Checkpoint } from '../checkpoint/checkpoint.ts'
import type { ThreadId } from './conversation.ts'
import type { Failure } from './failure.ts'
import type { InspectedWork } from '../policy/verify.ts'
import type { Exit, TurnResult, ProcessIdentity } from './attempt.ts'
import type { ChildrenCharge, Usage } from './usage.ts'
import type { TaskChange, Task } from './tasks-and-tracker-issues.ts'

/** A report of an agent about its work in progress. */
export type AgentUpdate =
  /** A new turn began in the same process, so the result of the previous turn no longer counts. */
  | { readonly type: 'began' }
  | { readonly type: 'tool-started'; readonly id: string; readonly tool: string; readonly summary: string }
  | { readonly type: 'tool-ended'; readonly id: string }
  /** The agent's own tool wrote a file; the path is absolute, or relative to the working directory. */
  | { readonly type: 'edited'; readonly path: string }
  /**
   * Usage. `step`: of this answer alone. `attempt`: of this process so far. `thread`: of the whole thread so far,
   * earlier attempts included.
   */
  | { readonly type: 'spent'; readonly scope: 'step' | 'attempt' | 'thread'; readonly spending: Usage }
  /** The program met this failure and tries again by itself. */
  | { readonly type: 'retrying'; readonly failure: Failure }
  /** The whole current plan. It replaces the previous plan. */
  | { readonly type: 'planned'; readonly tasks: readonly Omit<Task, 'source'>[] }
  /** A change of a part of the plan; a null field is unchanged. */
  | { readonly type: 'replanned'; readonly tasks: readonly TaskChange[] }
  /** Output that the adapter does not recognise, by a short name such as `system/foo`. */
  | { readonly type: 'unknown'; readonly what: string }

/** The agent's own record of its thread. `hasInput`: the record shows the input of this attempt. */
export interface ThreadSurvey {
  readonly thread: ThreadId
  readonly messages: number
  readonly hasInput: boolean
}

/** An observation. Time, randomness and identity arrive inside signals; core has none of its own. */
export type Signal = { readonly at: Instant } & (
  | { readonly type: 'attempt.started'; readonly attempt: number; readonly process: ProcessIdentity }
  | { readonly type: 'launch.failed'; readonly attempt: number; readonly reason: string; readonly chance: number }
  /** The working directory is gone. Only a person can bring it back. */
  | { readonly type: 'launch.impossible'; readonly attempt: number; readonly question: string }
  | { readonly type: 'agent.threaded'; readonly attempt: number; readonly thread: ThreadId }
  | { readonly type: 'agent.asked'; readonly attempt: number; readonly question: string }
  | { readonly type: 'agent.answered'; readonly attempt: number }
  | { readonly type: 'agent.told'; readonly attempt: number; readonly update: AgentUpdate }
  | { readonly type: 'agent.finished'; readonly attempt: number; readonly result: TurnResult }
  /** The engine has read the agent's own record of its thread. `isFinal`: no process writes to it any more. */
  | ({ readonly type: 'thread.surveyed'; readonly attempt: number; readonly isFinal: boolean } & ThreadSurvey)
  /**
   * `chance` is a random number in [0, 1) for the jitter of a restart. `memory`: the evidence of too little memory.
   * `seenAt`: the last activity before a reboot of the machine. `emptyTree`: certainly no other process of the attempt
   * is left either; then `survey` is final, and null if there is no record.
   */
  | {
      readonly type: 'process.died'
      readonly attempt: number
      readonly exit: Exit
      readonly chance: number
      readonly memory?: string
      readonly seenAt?: Instant
      readonly emptyTree?: { readonly survey: ThreadSurvey | null }
    }
  /** The agent lives and does nothing; `evidence` is the whole sentence. */
  | { readonly type: 'agent.hung'; readonly attempt: number; readonly evidence: string; readonly chance: number }
  /** The attempt uses more memory than its limit. */
  | { readonly type: 'memory.exceeded'; readonly attempt: number; readonly evidence: string; readonly chance: number }
  /** The attempts have written more than their limit; `evidence` is the whole sentence. */
  | { readonly type: 'output.exceeded'; readonly attempt: number; readonly evidence: string }
  /** A sweep has ended, and no process of the attempt's tree is left. */
  | { readonly type: 'tree.gone'; readonly attempt: number }
  /** The verifier has inspected the session's work; null for each fact that does not matter. */
  | { readonly type: 'work.shown'; readonly attempt: number; readonly shown: InspectedWork }
  /**
   * `heard`: the present number of messages in the thread's record, if no process of ours writes to it. `by`: the
   * session that sends the message.
   */
  | {
      readonly type: 'user.message'
      readonly key: string
      readonly summary: string
      readonly heard?: number
      readonly by?: string
    }
  /** `cwd`: the present folder of the project. */
  | { readonly type: 'user.resume'; readonly heard?: number; readonly cwd?: string }
  /**
   * `isNow`: oneshot kills the session without asking it first. `by`: the session whose program asked, if not the user.
   */
  | { readonly type: 'user.stop'; readonly isNow?: boolean; readonly by?: string }
  /** Pauses the session until somebody resumes it. */
  | { readonly type: 'user.hold'; readonly reason: string }
  | { readonly type: 'clock.due' }
  | { readonly type: 'checkpoint.saved'; readonly checkpoint: Checkpoint }
  /** Nothing has changed since the last checkpoint. */
  /** `leftOut`: everything that is not saved now. */
  | { readonly type: 'checkpoint.unneeded'; readonly leftOut?: readonly string[] }
  /** A checkpoint failed. `isFinal`: a retry cannot help. */
  | { readonly type: 'checkpoint.failed'; readonly reason: string; readonly isFinal: boolean }
  | { readonly type: 'checkpoint.pushed'; readonly number: number; readonly note?: string }
  | { readonly type: 'checkpoint.unpushed'; readonly reason: string }
  /** Something beside the work failed, such as a task tracker that does not answer. */
  | { readonly type: 'trouble.noted'; readonly note: string }
  /** Tasks that a person names; an id that exists already changes that task. */
  | { readonly type: 'user.tasks'; readonly tasks: readonly Omit<Task, 'source'>[] }
  /** The usage of the sessions that this one started, and the budgets reserved for them. */
  | { readonly type: 'children.charged'; readonly charge: ChildrenCharge }
  /** The user gives the session another display name, or says where its project is now. */
  | { readonly type: 'user.amend'; readonly label?: string; readonly cwd?: string }
)

export type SignalType = Signal['type']
export type SignalOf<T extends SignalType> = Extract<Signal, { type: T }>

export const SIGNAL_TYPES: readonly SignalType[] = [
  'attempt.started',
  'launch.failed',
  'launch.impossible',
  'agent.threaded',
  'agent.asked',
  'agent.answered',
  'agent.told',
  'agent.finished',
  'thread.surveyed',
  'process.died',
  'agent.hung',
  'memory.exceeded',
  'output.exceeded',
  'tree.gone',
  'work.shown',
  'user.message',
  'user.resume',
  'user.stop',
  'user.hold',
  'clock.due',
  'checkpoint.saved',
  'checkpoint.unneeded',
  'checkpoint.failed',
  'checkpoint.pushed',
  'checkpoint.unpushed',
  'trouble.noted',
  'user.tasks',
  'children.charged',
  'user.amend',
]
