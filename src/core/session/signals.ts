import type { Instant } from '../../lib/time.ts'
import type { Checkpoint } from '../checkpoint/checkpoint.ts'
import type { Failure } from './failure.ts'
import type { InspectedWork } from '../policy/verify.ts'
import type { Exit, TurnResult, ProcessIdentity } from './session.ts'
import type { ChildrenCharge, Usage } from './usage.ts'
import type { TaskChange, Task } from './task.ts'

/** What an agent tells of its work while it is at it. */
export type AgentUpdate =
  /** A new turn began in the same process: what was said about the end of the one before counts no more. */
  | { readonly type: 'began' }
  | { readonly type: 'tool-started'; readonly id: string; readonly tool: string; readonly gist: string }
  | { readonly type: 'tool-ended'; readonly id: string }
  /** A file was written by the agent's own tool; absolute, or relative to the working directory. */
  | { readonly type: 'edited'; readonly path: string }
  /**
   * What was used up. `step`: by this answer alone. `attempt`: by this process so far. `thread`: by the whole thread so
   * far, earlier attempts included.
   */
  | { readonly type: 'spent'; readonly scope: 'step' | 'attempt' | 'thread'; readonly spending: Usage }
  /** The program met this and tries again by itself. */
  | { readonly type: 'retrying'; readonly failure: Failure }
  /** Its plan as it is now, in whole: what is not in it any more is no longer meant. */
  | { readonly type: 'planned'; readonly tasks: readonly Omit<Task, 'source'>[] }
  /** A part of its plan has changed, and the rest has not; null is as it was. */
  | { readonly type: 'replanned'; readonly tasks: readonly TaskChange[] }
  /** Something in its output that its adapter does not know, by a short name such as `system/foo`. */
  | { readonly type: 'unknown'; readonly what: string }

/** What we saw. Time, chance and identity arrive inside; core has none of its own. */
export type Signal = { readonly at: Instant } & (
  | { readonly type: 'attempt.started'; readonly attempt: number; readonly life: ProcessIdentity }
  | { readonly type: 'launch.failed'; readonly attempt: number; readonly reason: string; readonly chance: number }
  /** Its working directory is gone: only a person can bring it back. */
  | { readonly type: 'launch.impossible'; readonly attempt: number; readonly question: string }
  | { readonly type: 'agent.threaded'; readonly attempt: number; readonly thread: string }
  | { readonly type: 'agent.asked'; readonly attempt: number; readonly question: string }
  | { readonly type: 'agent.answered'; readonly attempt: number }
  | { readonly type: 'agent.told'; readonly attempt: number; readonly news: AgentUpdate }
  | { readonly type: 'agent.finished'; readonly attempt: number; readonly word: TurnResult }
  /**
   * The agent's own record of its thread was looked up. `hasErrand`: it shows what this attempt was given.
   * `isFinal`: nobody writes in it any more.
   */
  | {
      readonly type: 'thread.surveyed'
      readonly attempt: number
      readonly thread: string
      readonly messages: number
      readonly hasErrand: boolean
      readonly isFinal: boolean
    }
  /**
   * `chance` is a dice roll in [0, 1) for the jitter of a restart. `memory`: the evidence that there was too little of it.
   * `seenAt`: when it was last at work, where the machine was restarted since. `isAlone`: certainly nothing else
   * of it is left.
   */
  | {
      readonly type: 'process.died'
      readonly attempt: number
      readonly exit: Exit
      readonly chance: number
      readonly memory?: string
      readonly seenAt?: Instant
      readonly isAlone?: boolean
    }
  /** It lives and does nothing; `evidence` is the whole sentence. */
  | { readonly type: 'agent.hung'; readonly attempt: number; readonly evidence: string; readonly chance: number }
  /** It uses more memory than it was given. */
  | { readonly type: 'memory.exceeded'; readonly attempt: number; readonly evidence: string; readonly chance: number }
  /** Its attempts have written more than they may; `evidence` is the whole sentence. */
  | { readonly type: 'output.exceeded'; readonly attempt: number; readonly evidence: string }
  /** Nothing of the attempt's process tree is left. `isUnswept`: it went by itself, and nobody has cleared up after it. */
  | { readonly type: 'tree.gone'; readonly attempt: number; readonly isUnswept?: boolean }
  /** What can be seen of all that it has done; null of what does not matter. */
  | { readonly type: 'work.shown'; readonly attempt: number; readonly shown: InspectedWork }
  /** `heard`: how many messages the thread's record holds by now, where nobody of ours writes in it. `by`: the session that sends it. */
  | {
      readonly type: 'user.message'
      readonly key: string
      readonly gist: string
      readonly heard?: number
      readonly by?: string
    }
  /** `cwd`: where its project is by now. */
  | { readonly type: 'user.resume'; readonly heard?: number; readonly cwd?: string }
  /** `isNow`: it is killed without being asked first. `by`: the session whose program asked for it, if not its user. */
  | { readonly type: 'user.stop'; readonly isNow?: boolean; readonly by?: string }
  /** It is to stand still until it is resumed. */
  | { readonly type: 'user.hold'; readonly reason: string }
  | { readonly type: 'clock.due' }
  | { readonly type: 'checkpoint.saved'; readonly checkpoint: Checkpoint }
  /** Nothing has changed since the last one. */
  | { readonly type: 'checkpoint.unneeded' }
  /** It was to be saved and could not be. `isFinal`: nor will it be by trying again. */
  | { readonly type: 'checkpoint.failed'; readonly reason: string; readonly isFinal: boolean }
  | { readonly type: 'checkpoint.pushed'; readonly number: number; readonly note?: string }
  | { readonly type: 'checkpoint.unpushed'; readonly reason: string }
  /** Something beside the work went wrong, such as a task tracker that does not answer. */
  | { readonly type: 'trouble.noted'; readonly note: string }
  /** The pieces of its work that somebody names; the same id again changes that one. */
  | { readonly type: 'user.tasks'; readonly tasks: readonly Omit<Task, 'source'>[] }
  /** The sessions that it has started have spent, or have budgets reserved for them. */
  | { readonly type: 'children.charged'; readonly charge: ChildrenCharge }
  /** The user gives it another name to be shown under, or says where its project is by now. */
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
