import type { Duration } from '../../lib/time.ts'

/** The supervisor's waiting times. All sessions share one set. */
export interface Timings {
  /** From SIGINT to SIGTERM: in this time agents write their transcript and end their tools. */
  readonly interruptGrace: Duration
  /** From SIGTERM to SIGKILL. */
  readonly terminateGrace: Duration
  /** The time that a kill or a sweep may take before the supervisor repeats it. */
  readonly sweepPatience: Duration
}

export const DEFAULT_TIMINGS: Timings = {
  interruptGrace: 5_000,
  terminateGrace: 5_000,
  sweepPatience: 15_000,
}
