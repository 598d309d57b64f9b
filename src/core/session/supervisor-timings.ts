import type { Duration } from '../../lib/time.ts'

/** The supervisor's waiting times, in milliseconds. All sessions share one set. */
export interface Timings {
  /**
   * From SIGINT to SIGTERM: in this time agents write their transcript and end their tools. `--stop-grace` sets it for
   * one session.
   */
  readonly interruptGrace: Duration
  /** From SIGINT because of the budget to SIGTERM, if the agent starts more work in spite of it. */
  readonly ignoredInterrupt: Duration
  /** From SIGTERM to SIGKILL. */
  readonly terminateGrace: Duration
  /** The time that a kill or a sweep may take before the supervisor repeats it. */
  readonly sweepPatience: Duration
  /** Before the next observation of a session after trouble, such as a full disk. */
  readonly troublePause: Duration
  /** Before a background service tries again if it cannot read or write its records, for example on a full disk. */
  readonly servicePause: Duration
  /** After the first failure of a notification channel; each further failure doubles the pause. */
  readonly channelPause: Duration
  /** A tracker answers within a second; a slower one waits for something that may never happen. */
  readonly trackerTimeout: Duration
  /** Between an edit and its checkpoint, so that one checkpoint also covers the edits that follow. */
  readonly editDelay: Duration
  /** A new supervisor replaces one that holds the lock, is not suspended, and shows no progress for this long. */
  readonly lockPatience: Duration
}

export const DEFAULT_TIMINGS: Timings = {
  interruptGrace: 5_000,
  ignoredInterrupt: 1_000,
  terminateGrace: 5_000,
  sweepPatience: 15_000,
  troublePause: 5_000,
  servicePause: 30_000,
  channelPause: 5_000,
  trackerTimeout: 10_000,
  editDelay: 5_000,
  lockPatience: 15_000,
}

/**
 * Reads the waiting times of a test: `NAME=MILLISECONDS`, separated by blanks. The other times keep their defaults. A
 * test can shorten a time, never lengthen it. Returns undefined if a part is wrong.
 */
export function parseTimings(text: string): Timings | undefined {
  const parts = text.split(/\s+/).filter(part => part !== '')
  const entries = parts.map(part => /^([a-zA-Z]+)=([1-9]\d{0,4})$/.exec(part))
  const isValid = entries.every(
    entry => entry !== null && isTiming(entry[1]) && Number(entry[2]) <= DEFAULT_TIMINGS[entry[1]],
  )
  if (!isValid) return undefined
  return { ...DEFAULT_TIMINGS, ...Object.fromEntries(entries.map(entry => [entry?.[1], Number(entry?.[2])])) }
}

function isTiming(name: string | undefined): name is keyof Timings {
  return name !== undefined && Object.hasOwn(DEFAULT_TIMINGS, name)
}
