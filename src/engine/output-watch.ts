import type { Session } from '../core/session.ts'
import type { Signal } from '../core/signals.ts'
import { formatBytes } from '../lib/bytes.ts'
import type { Duration } from '../lib/time.ts'
import type { Work } from '../ports/work.ts'
import { attemptRef } from './attempt-ref.ts'
import type { World } from './world.ts'

/** A fast program writes a gigabyte in a second. Two file sizes are read for each session, some 10 µs. */
const EVERY: Duration = 1_000
/** From this part of its limit on a session is warned. */
const WARNING = 0.8

interface Watched {
  readonly attempt: number
  /** Bytes that earlier attempts have written. */
  readonly before: number
  isWarned: boolean
}

/** Keeps one session from filling the disk: compares what its attempts have written with its limit. */
export class OutputWatch {
  readonly #world: Pick<World, 'work' | 'clock' | 'store' | 'onTrouble'>
  readonly #report: (sessionId: string, signal: Signal) => Promise<void>
  readonly #watched = new Map<string, Watched>()
  #cancel: (() => void) | null = null

  constructor(
    world: Pick<World, 'work' | 'clock' | 'store' | 'onTrouble'>,
    report: (sessionId: string, signal: Signal) => Promise<void>,
  ) {
    this.#world = world
    this.#report = report
  }

  /** Called with each session as it is now, as often as it changes. */
  follow(session: Session): void {
    const { id, maxOutput } = session.spec
    const isAtWork = session.life !== null && session.exit === null && session.phase.name !== 'stopping'
    if (maxOutput === undefined || maxOutput === null || !isAtWork) this.#watched.delete(id)
    else if (this.#watched.get(id)?.attempt !== session.attempt)
      this.#watched.set(id, {
        attempt: session.attempt,
        before: outputOf(session, this.#world.work, session.attempt - 1),
        isWarned: false,
      })
    if (this.#watched.size > 0) this.#lookLater()
  }

  stop(): void {
    this.#watched.clear()
    this.#cancel?.()
  }

  #lookLater(): void {
    const { clock } = this.#world
    this.#cancel ??= clock.ring(clock.now() + EVERY, () => {
      this.#cancel = null
      for (const [id, watched] of this.#watched) this.#look(id, watched)
      if (this.#watched.size > 0) this.#lookLater()
    })
  }

  #look(id: string, watched: Watched): void {
    const { store, work, clock, onTrouble } = this.#world
    const session = store.load(id)
    const limit = session?.spec.maxOutput ?? null
    if (session === undefined || limit === null || session.attempt !== watched.attempt)
      return void this.#watched.delete(id)
    const written = watched.before + work.written(attemptRef(session))
    if (written < limit * WARNING || (written < limit && watched.isWarned)) return
    watched.isWarned = true
    const amounts = `${formatBytes(written)} of ${formatBytes(limit)}`
    const signal: Signal =
      written < limit
        ? { at: clock.now(), type: 'trouble.noted', note: `it has written ${amounts}; oneshot stops it at the limit` }
        : { at: clock.now(), type: 'output.exceeded', attempt: watched.attempt, evidence: reached(written, limit) }
    if (written >= limit) this.#watched.delete(id)
    this.#report(id, signal).catch(cause => onTrouble(id, cause))
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
