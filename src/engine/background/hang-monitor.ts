import { hasProgressed, detectHang, silenceLimit, type ActivitySample } from '../../core/policy/hang-detection.ts'
import type { SessionId } from '../../core/session/session-id-and-name.ts'
import type { Session } from '../../core/session/session-state.ts'
import type { Signal } from '../../core/session/signals.ts'
import type { Duration, Instant } from '../../lib/time.ts'
import { formatBytes } from '../../lib/bytes.ts'
import type { Job } from '../../lib/keyed-jobs.ts'
import { fixedPause } from '../../lib/retry-policy.ts'
import { attemptRef } from '../../ports/runtime.ts'
import { threadWrittenAt } from '../thread-survey.ts'
import type { EngineContext } from '../context.ts'
import { SessionReconciler } from './reconciler.ts'

/** Milliseconds; the longest usual interval between two checks. Each check without progress doubles the interval. */
const MAX_INTERVAL: Duration = 180_000
/** Milliseconds; the first check yields the sample that later checks compare with. */
const FIRST_INTERVAL: Duration = 10_000
/** Milliseconds; a program can use up memory within seconds. */
const MEMORY_INTERVAL: Duration = 1_000
const RETRY = fixedPause(MAX_INTERVAL)

/**
 * A watched attempt. The monotonic clock excludes the time that the machine sleeps, so sleep does not count as silence.
 */
interface WatchedAttempt {
  readonly attempt: number
  written: number
  sample: ActivitySample | null
  checkedAt: Duration
  quietSince: Duration
  interval: Duration
  nextCheckAt: Instant
}

/**
 * Checks that a live attempt still makes progress and stays within its memory limit. The monitor stores nothing; a new
 * supervisor begins to watch anew.
 */
export class HangMonitor extends SessionReconciler {
  readonly #context: EngineContext
  readonly #report: (sessionId: SessionId, signal: Signal) => Promise<void>
  readonly #watched = new Map<string, WatchedAttempt>()

  constructor(context: EngineContext, report: (sessionId: SessionId, signal: Signal) => Promise<void>) {
    super(context, session => this.#wanted(session))
    this.#context = context
    this.#report = report
  }

  #wanted(session: Session): Job[] {
    const { id } = session.spec
    if (!isRunning(session) || checkInterval(session) === null) {
      this.#watched.delete(id)
      return []
    }
    const known = this.#watched.get(id)
    const watch = known?.attempt === session.attempt.number ? known : this.#watch(session)
    const { attempt, nextCheckAt: dueAt } = watch
    return [{ key: `attempt ${attempt}`, dueAt, retry: RETRY, run: signal => this.#check(id, watch, signal) }]
  }

  #watch({ spec, attempt: { number: attempt } }: Session): WatchedAttempt {
    const { clock } = this.#context
    const now = clock.monotonic()
    const { memory, patience } = spec.supervision
    const interval =
      memory === null ? Math.min(FIRST_INTERVAL, (patience.silence ?? MAX_INTERVAL) / 4) : MEMORY_INTERVAL
    const watch: WatchedAttempt = {
      attempt,
      written: 0,
      sample: null,
      checkedAt: now,
      quietSince: now,
      interval,
      nextCheckAt: clock.now() + interval,
    }
    this.#watched.set(spec.id, watch)
    return watch
  }

  async #check(id: SessionId, watch: WatchedAttempt, abortSignal: AbortSignal): Promise<void> {
    const { store, runtime, clock } = this.#context
    const session = store.load(id)
    if (session === undefined || session.attempt.number !== watch.attempt || !isRunning(session)) return
    if (this.#hasNewOutput(session, watch)) {
      watch.nextCheckAt = clock.now() + watch.interval
      return
    }
    const usage = await runtime.processStats(attemptRef(session))
    if (abortSignal.aborted) return
    const at = clock.now()
    const isQuiet = this.#compare(session, watch, { ...usage, recordedAt: this.#threadWrittenAt(session) })
    const trouble = checkMemory(session, usage) ?? checkHang(session, watch)
    if (trouble !== null) {
      await this.#report(id, { at, attempt: watch.attempt, chance: clock.random(), ...trouble })
      if (abortSignal.aborted) return // The session is ending the attempt.
    }
    const usual = checkInterval(session) ?? MAX_INTERVAL
    watch.interval = isQuiet ? watch.interval * 2 : usual
    watch.nextCheckAt =
      clock.now() +
      Math.min(watch.interval, timeUntilHung(session, watch), session.spec.supervision.memory ? usual : Infinity)
  }

  /**
   * Returns true when the attempt has written output: it makes progress, and needs no further check unless it has a
   * memory limit.
   */
  #hasNewOutput(session: Session, watch: WatchedAttempt): boolean {
    const { runtime, clock } = this.#context
    const written = runtime.outputSize(attemptRef(session))
    if (session.spec.supervision.memory !== null || written === watch.written) return false
    const now = clock.monotonic()
    watch.written = written
    watch.sample = null
    watch.checkedAt = now
    watch.quietSince = now
    watch.interval = checkInterval(session) ?? MAX_INTERVAL
    return true
  }

  /** Returns true when nothing happened since the last check. The first check has nothing to compare with. */
  #compare(session: Session, watch: WatchedAttempt, sample: ActivitySample): boolean {
    const now = this.#context.clock.monotonic()
    const isQuiet = watch.sample !== null && !hasProgressed(watch.sample, sample, now - watch.checkedAt)
    if (!isQuiet || session.phase.name === 'waiting') watch.quietSince = now
    watch.sample = sample
    watch.checkedAt = now
    return isQuiet
  }

  #threadWrittenAt(session: Session): Instant | null {
    const { runtime, agents } = this.#context
    return threadWrittenAt(session, { work: runtime, agent: agents(session.spec.agent), isForeign: () => false })
  }
}

function isRunning({ phase, attempt: { exit } }: Session): boolean {
  return exit === null && (phase.name === 'running' || phase.name === 'waiting')
}

/** Returns the time to the next check while all is well; null when the session needs no checks. */
function checkInterval({ spec }: Session): Duration | null {
  const { memory, patience } = spec.supervision
  if (memory !== null) return MEMORY_INTERVAL
  return patience.silence === null ? null : Math.min(MAX_INTERVAL, patience.silence / 4)
}

/** Returns the awake time left before the monitor judges the silence. */
function timeUntilHung(session: Session, { checkedAt: lookedAt, quietSince }: WatchedAttempt): Duration {
  const { silence } = session.spec.supervision.patience
  if (silence === null) return MAX_INTERVAL
  const left = silenceLimit(silence, session.attempt.activity.tools.at(-1) ?? null) - (lookedAt - quietSince)
  return left > 0 ? left : MAX_INTERVAL
}

type MonitorFinding =
  | { readonly type: 'agent.hung'; readonly evidence: string }
  | { readonly type: 'memory.exceeded'; readonly evidence: string }

function checkHang(
  { spec, phase, attempt: { activity } }: Session,
  { sample, checkedAt: lookedAt, quietSince }: WatchedAttempt,
): MonitorFinding | null {
  const { silence } = spec.supervision.patience
  if (silence === null || sample === null || phase.name === 'waiting') return null
  const tool = activity.tools.at(-1) ?? null
  const evidence = detectHang(silence, { quiet: lookedAt - quietSince, vitals: sample, tool })
  return evidence === null ? null : { type: 'agent.hung', evidence }
}

function checkMemory(
  { spec }: Session,
  usage: { memory: number; processes: readonly number[] },
): MonitorFinding | null {
  const { memory: limit } = spec.supervision
  if (limit === null || usage.memory <= limit) return null
  const count = usage.processes.length
  const held = `${formatBytes(usage.memory)} in ${count} ${count === 1 ? 'process' : 'processes'}`
  return { type: 'memory.exceeded', evidence: `${held}, where ${formatBytes(limit)} are allowed` }
}
