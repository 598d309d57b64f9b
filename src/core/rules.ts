import type { Duration } from '../lib/time.ts'
import type { RestartPolicy } from './session.ts'

/** How patient we are. One set for all sessions. */
export interface Rules {
  /** From SIGINT to SIGTERM: agents write their transcript and end their tools in this time. */
  readonly interruptGrace: Duration
  /** From SIGTERM to SIGKILL. */
  readonly terminateGrace: Duration
  /** How long a kill or a sweep may take before it is asked for again. */
  readonly sweepPatience: Duration
}

export const DEFAULT_RULES: Rules = {
  interruptGrace: 5_000,
  terminateGrace: 5_000,
  sweepPatience: 15_000,
}

/** First retry at once, because most deaths are accidents; then 2 s doubling to 64 s; ten in ten minutes. */
export const DEFAULT_RESTART: RestartPolicy = {
  on: 'crash',
  limit: 10,
  window: 600_000,
  firstDelay: 0,
  nextDelay: 2_000,
  maxDelay: 64_000,
}
