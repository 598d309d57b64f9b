import type { Duration } from '../../lib/time.ts'
import type { WaitLimits, RestartPolicy } from './session.ts'

/** How patient we are. One set for all sessions. */
export interface Timings {
  /** From SIGINT to SIGTERM: agents write their transcript and end their tools in this time. */
  readonly interruptGrace: Duration
  /** From SIGTERM to SIGKILL. */
  readonly terminateGrace: Duration
  /** How long a kill or a sweep may take before it is asked for again. */
  readonly sweepPatience: Duration
}

export const DEFAULT_TIMINGS: Timings = {
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

/** A day covers every five-hour limit; what was left alone for three days is not gone on with before its owner was asked. */
export const DEFAULT_WAIT_LIMITS: Omit<WaitLimits, 'silence'> = { limit: 86_400_000, absence: 3 * 86_400_000 }

/** The largest logs of real work have some hundred MB; a program that writes without end fills a disk within minutes. */
export const DEFAULT_MAX_OUTPUT = 1024 ** 3

/** More restarts than this within an hour are told to the owner, although it recovers. */
export const DEFAULT_ALERT_AFTER = 3
