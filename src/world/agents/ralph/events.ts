import type { Spending } from '../../../core/spending.ts'
import type { Task } from '../../../core/task.ts'

/** What a loop's program says, one JSON object per line. */
export type LoopEvent =
  | { readonly type: 'loop'; readonly thread: string }
  /** For people to read. */
  | { readonly type: 'say'; readonly text: string }
  /** All there are to do. */
  | { readonly type: 'tasks'; readonly tasks: readonly Omit<Task, 'source'>[] }
  /** By all of its workers so far. */
  | { readonly type: 'spent'; readonly spending: Spending }
  | { readonly type: 'ended'; readonly kind: 'done' | 'planned' | 'review' | 'unfinished'; readonly text: string }
