import type { FileChange } from '../../core/loop/evidence.ts'
import type { LoopTask } from '../../core/loop/loop.ts'
import type { Span } from '../../core/loop/losses.ts'

/** A piece of work that is to stay. */
export interface Work {
  /** Null for what the user had not committed when the loop began. */
  readonly task: LoopTask | null
  readonly span: Span
  readonly files: readonly FileChange[]
}
