import type { SessionId } from '../../core/session/session-id-and-name.ts'
import type { Session } from '../../core/session/session-state.ts'
import type { Signal } from '../../core/session/signals.ts'
import { formatBytes } from '../../lib/bytes.ts'
import type { Duration } from '../../lib/time.ts'
import type { AttemptRef, Runtime } from '../../ports/runtime.ts'
import { attemptRef } from '../../ports/runtime.ts'
import type { EngineContext } from '../context.ts'

/**
 * Milliseconds after which the monitor reads a session's files in any case: free space does not show the writes of one
 * session while others free as much.
 */
const CHECK_INTERVAL: Duration = 60_000
/**
 * Bytes. The file system counts free space in blocks, and the end of a file late: the monitor reads the files of a
 * session this close to a limit at each check.
 */
const MARGIN = 1_048_576
/** Share of its limit from which a session receives a warning. */
const WARNING_SHARE = 0.8
const DUE_NOW: Due = { dueAfter: 0, dueAt: 0 }

interface WatchedSession extends Due {
  readonly ref: AttemptRef
  readonly limit: number
  /** Bytes that earlier attempts have written. */
  readonly before: number
  isWarned: boolean
}

interface Due {
  /** The check is due when the disk has consumed this many bytes. */
  dueAfter: number
  /** The check is due at this time of the monotonic clock. */
  dueAt: Duration
}

/**
 * Prevents one session from filling the disk: compares the output of its attempts with its limit. Free space shows how
 * much the disk has consumed; the monitor reads the files of a session only when that session could have written it.
 */
export class OutputMonitor {
  readonly #context: Pick<EngineContext, 'runtime' | 'clock' | 'onTrouble'>
  readonly #report: (sessionId: SessionId, signal: Signal) => Promise<void>
  readonly #watched = new Map<SessionId, WatchedSession>()
  /** The earliest due check of all sessions. */
  #next: Due = DUE_NOW
  #free = 0
  /** Bytes that the disk has consumed since this supervisor started. */
  #consumed = 0

  constructor(
    context: Pick<EngineContext, 'runtime' | 'clock' | 'onTrouble'>,
    report: (sessionId: SessionId, signal: Signal) => Promise<void>,
  ) {
    this.#context = context
    this.#report = report
  }

  /** The engine calls this with the current session after each change. */
  onSessionChanged(session: Session): void {
    const { id, supervision } = session.spec
    const { maxOutput: limit } = supervision
    const isAtWork = session.attempt.process !== null && session.attempt.exit === null && !('next' in session.phase)
    if (limit === undefined || limit === null || !isAtWork) return void this.#watched.delete(id)
    if (this.#watched.get(id)?.ref.attempt === session.attempt.number) return
    const before = totalOutput(session, this.#context.runtime, session.attempt.number - 1)
    this.#watched.set(id, { ref: attemptRef(session), limit, before, isWarned: false, ...DUE_NOW })
    this.#next = DUE_NOW
  }

  stop(): void {
    this.#watched.clear()
  }

  /**
   * The engine calls this every second, because a fast program writes a gigabyte in that time. Most calls only read the
   * free space.
   */
  check(): void {
    if (this.#watched.size === 0) return
    const { runtime, clock } = this.#context
    const free = runtime.freeSpace()
    this.#consumed += Math.max(0, this.#free - free)
    this.#free = free
    const now = clock.monotonic()
    if (!this.#isDue(this.#next, now)) return
    for (const [id, watched] of this.#watched) if (this.#isDue(watched, now)) this.#checkSession(id, watched, now)
    const all = [...this.#watched.values()]
    this.#next = {
      dueAfter: Math.min(...all.map(({ dueAfter }) => dueAfter)),
      dueAt: Math.min(...all.map(({ dueAt }) => dueAt)),
    }
  }

  #isDue({ dueAfter, dueAt }: Due, now: Duration): boolean {
    return this.#consumed >= dueAfter || now >= dueAt
  }

  #checkSession(id: SessionId, watched: WatchedSession, now: Duration): void {
    const { limit } = watched
    const at = this.#context.clock.now()
    const written = watched.before + this.#context.runtime.outputSize(watched.ref)
    const next = watched.isWarned ? limit : limit * WARNING_SHARE
    watched.dueAfter = this.#consumed + Math.max(0, next - written - MARGIN) / 2
    watched.dueAt = now + CHECK_INTERVAL
    if (written < next) return
    watched.isWarned = true
    const amounts = `${formatBytes(written)} of ${formatBytes(limit)}`
    const signal: Signal =
      written < limit
        ? { at, type: 'trouble.noted', note: `it has written ${amounts}; oneshot stops it at the limit` }
        : { at, type: 'output.exceeded', attempt: watched.ref.attempt, evidence: describeLimitReached(written, limit) }
    if (written >= limit) this.#watched.delete(id)
    this.#report(id, signal).catch(cause => this.#context.onTrouble(id, cause))
  }
}

/** Returns the bytes that the first `attempts` attempts of a session have written; by default, all attempts. */
export function totalOutput(
  session: Session,
  runtime: Pick<Runtime, 'outputSize'>,
  attempts = session.attempt.number,
): number {
  const refs = Array.from({ length: attempts }, (_, index) => attemptRef(session, index + 1))
  return refs.reduce((total, ref) => total + runtime.outputSize(ref), 0)
}

function describeLimitReached(written: number, limit: number): string {
  return `the output limit of ${formatBytes(limit)} was reached: ${formatBytes(written)} were written`
}
