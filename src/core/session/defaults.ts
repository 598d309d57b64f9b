import type { Duration } from '../../lib/time.ts'
import type { WaitLimits, RestartPolicy } from './session.ts'

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

/**
 * The first restart is immediate, because most deaths are accidents; then 2 s, doubling to 64 s; ten in ten minutes.
 */
export const DEFAULT_RESTART: RestartPolicy = {
  on: 'crash',
  limit: 10,
  window: 600_000,
  firstDelay: 0,
  nextDelay: 2_000,
  maxDelay: 64_000,
}

/**
 * A day covers every five-hour limit. A session that nobody supervised for three days asks its owner before it
 * continues.
 */
export const DEFAULT_WAIT_LIMITS: Omit<WaitLimits, 'silence'> = { limit: 86_400_000, absence: 3 * 86_400_000 }

/**
 * The largest logs of real work have some hundred MB; a program that writes without end fills a disk within minutes.
 */
export const DEFAULT_MAX_OUTPUT = 1024 ** 3

/** oneshot notifies the owner after more restarts than this within an hour, even if the session recovers. */
export const DEFAULT_ALERT_AFTER = 3
