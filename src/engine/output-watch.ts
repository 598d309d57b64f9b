import type { Session } from '../core/session.ts'
import type { Signal } from '../core/signals.ts'
import { formatBytes } from '../lib/bytes.ts'
import type { Duration } from '../lib/time.ts'
import type { AttemptRef, Work } from '../ports/work.ts'
import { attemptRef } from './attempt-ref.ts'
import type { World } from './world.ts'

/** Free space cannot show what a session writes while others free as much: its files are looked at this often in any case. */
const AT_LEAST_EVERY: Duration = 60_000
/** Free space is counted in blocks, and the last of a file late: a session this close to a limit is looked at each time. */
const CLOSE = 1_048_576
/** From this part of its limit on a session is warned. */
const WARNING = 0.8
const AT_ONCE: Due = { dueAfter: 0, dueAt: 0 }

interface Watched extends Due {
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
export class OutputWatch {
  readonly #world: Pick<World, 'work' | 'clock' | 'onTrouble'>
  readonly #report: (sessionId: string, signal: Signal) => Promise<void>
  readonly #watched = new Map<string, Watched>()
  /** The first that is due. */
  #next: Due = AT_ONCE
  #free = 0
  /** Bytes that the disk has taken since this supervisor began. */
  #taken = 0

  constructor(
    world: Pick<World, 'work' | 'clock' | 'onTrouble'>,
    report: (sessionId: string, signal: Signal) => Promise<void>,
  ) {
    this.#world = world
    this.#report = report
  }

  /** Called with each session as it is now, as often as it changes. */
  follow(session: Session): void {
    const { id, maxOutput: limit } = session.spec
    const isAtWork = session.life !== null && session.exit === null && session.phase.name !== 'stopping'
    if (limit === undefined || limit === null || !isAtWork) return void this.#watched.delete(id)
    if (this.#watched.get(id)?.ref.attempt === session.attempt) return
    const before = outputOf(session, this.#world.work, session.attempt - 1)
    this.#watched.set(id, { ref: attemptRef(session), limit, before, isWarned: false, ...AT_ONCE })
    this.#next = AT_ONCE
  }

  stop(): void {
    this.#watched.clear()
  }

  /** Called every second: a fast program writes a gigabyte in that time. Most calls ask the disk one question and no more. */
  look(): void {
    if (this.#watched.size === 0) return
    const { work, clock } = this.#world
    const free = work.freeSpace()
    this.#taken += Math.max(0, this.#free - free)
    this.#free = free
    const now = clock.awake()
    if (!this.#isDue(this.#next, now)) return
    for (const [id, watched] of this.#watched) if (this.#isDue(watched, now)) this.#lookAt(id, watched, now)
    const all = [...this.#watched.values()]
    this.#next = {
      dueAfter: Math.min(...all.map(({ dueAfter }) => dueAfter)),
      dueAt: Math.min(...all.map(({ dueAt }) => dueAt)),
    }
  }

  #isDue({ dueAfter, dueAt }: Due, now: Duration): boolean {
    return this.#taken >= dueAfter || now >= dueAt
  }

  #lookAt(id: string, watched: Watched, now: Duration): void {
    const { limit } = watched
    const at = this.#world.clock.now()
    const written = watched.before + this.#world.work.written(watched.ref)
    const next = watched.isWarned ? limit : limit * WARNING
    watched.dueAfter = this.#taken + Math.max(0, next - written - CLOSE) / 2
    watched.dueAt = now + AT_LEAST_EVERY
    if (written < next) return
    watched.isWarned = true
    const amounts = `${formatBytes(written)} of ${formatBytes(limit)}`
    const signal: Signal =
      written < limit
        ? { at, type: 'trouble.noted', note: `it has written ${amounts}; oneshot stops it at the limit` }
        : { at, type: 'output.exceeded', attempt: watched.ref.attempt, evidence: reached(written, limit) }
    if (written >= limit) this.#watched.delete(id)
    this.#report(id, signal).catch(cause => this.#world.onTrouble(id, cause))
  }
}

/** Bytes that the first attempts of a session have written; of all of them if it is not said of how many. */
export function outputOf(session: Session, work: Pick<Work, 'written'>, attempts = session.attempt): number {
  const refs = Array.from({ length: attempts }, (_, index) => attemptRef(session, index + 1))
  return refs.reduce((total, ref) => total + work.written(ref), 0)
}

function reached(written: number, limit: number): string {
  return `the output limit of ${formatBytes(limit)} was reached: ${formatBytes(written)} were written`
}
