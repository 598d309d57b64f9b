import type { LoopSpec } from '../../core/loop/spec.ts'

/** What a loop is asked for: the one argument of its program, as JSON. */
export type LoopRequest = LoopSpec
