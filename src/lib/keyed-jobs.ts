import { Trouble } from './errors.ts'
import { type RetryPolicy, pauseAfter } from './retry-policy.ts'
import type { Duration, Instant } from './time.ts'
import { type TimerClock, withTimeout } from './timeout.ts'

/** Something that an owner wants to be done. */
export interface Job {
  /** At most one job with this key runs for an owner. A job that is no longer wanted is aborted. */
  readonly key: string
  /** The job starts at this time. Absent: at once. A waiting job keeps the earliest time that it was wanted for. */
  readonly dueAt?: Instant
  /**
   * Names the state that the job is to bring about. If the owner wants the same revision again as soon as the job has
   * ended, the job has not helped, and the next try waits as after a failure.
   */
  readonly revision?: string | number
  /** A job that takes longer fails. Absent: no limit. */
  readonly limit?: Duration
  /** Names the job in the error message of its time limit. Absent: the key. */
  readonly doing?: string
  readonly retry: RetryPolicy
  /** Runs the job. The signal aborts when the job is no longer wanted, and when its time is over. */
  readonly run: (signal: AbortSignal) => Promise<void>
  /** Receives each failure. Absent: `onError` receives it. */
  readonly onFailure?: (failure: JobFailure) => Promise<void> | void
}

export interface JobFailure {
  readonly cause: unknown
  /** True after the last try that the retry policy allows: the job does not run again while it is wanted. */
  readonly isFinal: boolean
}

export interface KeyedJobsOptions<Owner extends string> {
  readonly clock: TimerClock
  /** Runs before each start. If it throws, the job does not run, and `onError` receives the error. */
  readonly beforeStart?: () => void
  /** Receives the owner after the end of each of its jobs. It must call `want` again. */
  readonly onFinished: (owner: Owner) => void
  readonly onError: (owner: Owner, cause: unknown) => void
}

interface Entry {
  job: Job
  isWanted: boolean
  /** Failures in a row. */
  failures: number
  /** The end of the pause after a failure. */
  notBefore: Instant
  /** The time of the next start; undefined while no start is planned. */
  startAt: Instant | undefined
  cancelTimer: () => void
  running: AbortController | undefined
  done: Promise<void>
  /** The job that has just succeeded. */
  succeeded: Job | undefined
}

/**
 * Runs the jobs that owners want: starts missing ones when they are due, aborts those that are no longer wanted, and
 * retries failed ones after growing pauses. It sets a timer only for a job that waits.
 */
export class KeyedJobs<Owner extends string = string> {
  readonly #options: KeyedJobsOptions<Owner>
  readonly #owners = new Map<Owner, Map<string, Entry>>()
  readonly #stopping = new AbortController()

  constructor(options: KeyedJobsOptions<Owner>) {
    this.#options = options
  }

  /** Aborts when `stop` is called. */
  get stopping(): AbortSignal {
    return this.#stopping.signal
  }

  /** Replaces all jobs that this owner wants. */
  want(owner: Owner, jobs: readonly Job[]): void {
    const known = this.#owners.get(owner)
    if (this.stopping.aborted || (known === undefined && jobs.length === 0)) return
    const entries = known ?? new Map<string, Entry>()
    this.#owners.set(owner, entries)
    for (const entry of entries.values()) if (!jobs.some(({ key }) => key === entry.job.key)) drop(entries, entry)
    for (const job of jobs) this.#keep(owner, entries, job)
    if (entries.size === 0) this.#owners.delete(owner)
  }

  /** Returns the keys of the owner's running jobs, including those that are being aborted. */
  runningKeys(owner: Owner): Set<string> {
    const entries = [...(this.#owners.get(owner)?.values() ?? [])]
    return new Set(entries.filter(({ running }) => running !== undefined).map(({ job }) => job.key))
  }

  /** Starts nothing more, aborts running jobs, and resolves when they have ended. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    const entries = [...this.#owners.values()].flatMap(byKey => [...byKey.values()])
    for (const { cancelTimer, running } of entries) {
      cancelTimer()
      running?.abort()
    }
    await Promise.all(entries.map(({ done }) => done))
  }

  #keep(owner: Owner, entries: Map<string, Entry>, job: Job): void {
    const entry = entries.get(job.key) ?? newEntry(job)
    entries.set(job.key, entry)
    entry.job = job
    entry.isWanted = true
    if (entry.running !== undefined) return
    const now = this.#options.clock.now()
    if (entry.succeeded !== undefined) {
      const hasHelped = (job.dueAt ?? now) > now || job.revision !== entry.succeeded.revision
      this.#pause(entry, hasHelped ? 0 : entry.failures + 1)
      entry.succeeded = undefined
    }
    this.#startBy(owner, entry, Math.max(job.dueAt ?? now, entry.notBefore))
  }

  #pause(entry: Entry, failures: number): void {
    entry.failures = failures
    entry.notBefore = failures === 0 ? 0 : this.#options.clock.now() + pauseAfter(entry.job.retry, failures)
  }

  #startBy(owner: Owner, entry: Entry, at: Instant): void {
    if (entry.startAt !== undefined && entry.startAt <= at) return
    const { clock } = this.#options
    entry.cancelTimer()
    if (at <= clock.now()) return this.#start(owner, entry)
    entry.startAt = at
    if (at < Infinity) entry.cancelTimer = clock.schedule(at, () => this.#start(owner, entry))
  }

  #start(owner: Owner, entry: Entry): void {
    const controller = new AbortController()
    entry.startAt = undefined
    entry.running = controller
    entry.done = this.#runAndReport(owner, entry, controller.signal).then(() => {
      entry.running = undefined
      if (controller.signal.aborted) this.#pause(entry, 0)
      this.#finish(owner, entry)
    })
  }

  async #runAndReport(owner: Owner, entry: Entry, signal: AbortSignal): Promise<void> {
    const { job } = entry
    const { onFailure: _, ...unreported } = job
    try {
      this.#options.beforeStart?.()
    } catch (cause) {
      return this.#fail(owner, entry, { job: unreported, cause })
    }
    try {
      await this.#run(job, signal)
      if (!signal.aborted) entry.succeeded = job
    } catch (cause) {
      if (!signal.aborted) await this.#fail(owner, entry, { job, cause })
    }
  }

  #run({ key, run, limit, doing = key }: Job, signal: AbortSignal): Promise<void> {
    if (limit === undefined) return run(signal)
    return withTimeout(run, { clock: this.#options.clock, limit, doing, signal })
  }

  async #fail(owner: Owner, entry: Entry, { job, cause }: { job: Job; cause: unknown }): Promise<void> {
    const { onError, clock } = this.#options
    const { maxTries, maxPause } = job.retry
    const isHopeless = cause instanceof Trouble && !cause.mayHelpToRetry
    const isFinal = maxTries !== undefined && (isHopeless || entry.failures + 1 >= maxTries)
    this.#pause(entry, entry.failures + 1)
    if (isHopeless) entry.notBefore = clock.now() + maxPause
    if (isFinal) entry.notBefore = Infinity
    try {
      if (job.onFailure === undefined) onError(owner, cause)
      else await job.onFailure({ cause, isFinal })
    } catch (further) {
      onError(owner, further)
    }
  }

  #finish(owner: Owner, entry: Entry): void {
    const entries = this.#owners.get(owner)
    if (!entry.isWanted) entries?.delete(entry.job.key)
    if (entries?.size === 0) this.#owners.delete(owner)
    if (!this.stopping.aborted) this.#options.onFinished(owner)
  }
}

/** A running job ends before its entry goes, so that no second one starts beside it. */
function drop(entries: Map<string, Entry>, entry: Entry): void {
  entry.cancelTimer()
  entry.isWanted = false
  if (entry.running === undefined) entries.delete(entry.job.key)
  else entry.running.abort()
}

function newEntry(job: Job): Entry {
  return {
    job,
    isWanted: true,
    failures: 0,
    notBefore: 0,
    startAt: undefined,
    cancelTimer: () => undefined,
    running: undefined,
    done: Promise.resolve(),
    succeeded: undefined,
  }
}
