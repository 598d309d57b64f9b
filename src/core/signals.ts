import type { Instant } from '../lib/time.ts'
import type { Exit, LastWord, Life } from './session.ts'

/** What we saw. Time, chance and identity arrive inside; core has none of its own. */
export type Signal = { readonly at: Instant } & (
  | { readonly type: 'attempt.started'; readonly attempt: number; readonly life: Life }
  | { readonly type: 'launch.failed'; readonly attempt: number; readonly reason: string; readonly chance: number }
  | { readonly type: 'agent.threaded'; readonly attempt: number; readonly thread: string }
  | { readonly type: 'agent.asked'; readonly attempt: number; readonly question: string }
  | { readonly type: 'agent.answered'; readonly attempt: number }
  | { readonly type: 'agent.finished'; readonly attempt: number; readonly word: LastWord }
  /** `chance` is a dice roll in [0, 1) for the jitter of a restart. */
  | { readonly type: 'process.died'; readonly attempt: number; readonly exit: Exit; readonly chance: number }
  /** Nothing of the attempt's process tree is left. */
  | { readonly type: 'tree.gone'; readonly attempt: number }
  | { readonly type: 'user.stop' }
  | { readonly type: 'clock.due' }
)

export type SignalType = Signal['type']
export type SignalOf<T extends SignalType> = Extract<Signal, { type: T }>

export const SIGNAL_TYPES: readonly SignalType[] = [
  'attempt.started',
  'launch.failed',
  'agent.threaded',
  'agent.asked',
  'agent.answered',
  'agent.finished',
  'process.died',
  'tree.gone',
  'user.stop',
  'clock.due',
]
