import type { Session } from '../../core/session/session.ts'
import type { Signal } from '../../core/session/signals.ts'
import { formatBytes } from '../../lib/bytes.ts'
import type { Duration } from '../../lib/time.ts'
import type { AttemptRef, Runtime } from '../../ports/runtime.ts'
import { attemptRef } from '../../ports/runtime.ts'
import type { EngineContext } from '../context.ts'

/** Free space cannot show what a session writes while others free as much: its files are looked at this often in any case. */
const CHECK_INTERVAL: Duration = 60_000
/** Free space is counted in blocks, and the last of a file late: a session this close to a limit is looked at each time. */
const MARGIN = 1_048_576
/** From this part of its limit on a session is warned. */
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
  /** When the disk has taken this many bytes. */
  dueAfter: number
  /** When this machine was awake for so long. */
  dueAt: Duration
}

/**
 * Keeps one session from filling the disk: compares what its attempts have written with its limit. Free space tells how much
 * the disk has taken; the files of a session are looked at only when it could be the one that wrote it.
 */
export class OutputMonitor {
  readonly #context: Pick<EngineContext, 'runtime' | 'clock' | 'onTrouble'>
  readonly #report: (sessionId: string, signal: Signal) => Promise<void>
  readonly #watched = new Map<string, WatchedSession>()
  /** The first that is due. */
  #next: Due = DUE_NOW
  #free = 0
  /** Bytes that the disk has taken since this supervisor began. */
  #consumed = 0

  constructor(
    context: Pick<EngineContext, 'runtime' | 'clock' | 'onTrouble'>,
    report: (sessionId: string, signal: Signal) => Promise<void>,
  ) {
    this.#context = context
    this.#report = report
  }

  /** Called with each session as it is now, as often as it changes. */
  onSessionChanged(session: Session): void {
    const { id, maxOutput: limit } = session.spec
    const isAtWork = session.life !== null && session.exit === null && session.phase.name !== 'stopping'
    if (limit === undefined || limit === null || !isAtWork) return void this.#watched.delete(id)
    if (this.#watched.get(id)?.ref.attempt === session.attempt) return
    const before = totalOutput(session, this.#context.runtime, session.attempt - 1)
    this.#watched.set(id, { ref: attemptRef(session), limit, before, isWarned: false, ...DUE_NOW })
    this.#next = DUE_NOW
  }

  stop(): void {
    this.#watched.clear()
  }

  /** Called every second: a fast program writes a gigabyte in that time. Most calls ask the disk one question and no more. */
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

  #checkSession(id: string, watched: WatchedSession, now: Duration): void {
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

/** Bytes that the first attempts of a session have written; of all of them if it is not said of how many. */
export function totalOutput(
  session: Session,
  runtime: Pick<Runtime, 'outputSize'>,
  attempts = session.attempt,
): number {
  const refs = Array.from({ length: attempts }, (_, index) => attemptRef(session, index + 1))
  return refs.reduce((total, ref) => total + runtime.outputSize(ref), 0)
}

function describeLimitReached(written: number, limit: number): string {
  return `the output limit of ${formatBytes(limit)} was reached: ${formatBytes(written)} were written`
}
