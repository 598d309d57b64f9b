import { hasMoved, judgeSilence, patienceWith, type Vitals } from '../core/judge-silence.ts'
import type { Session } from '../core/session.ts'
import type { Signal } from '../core/signals.ts'
import type { Duration, Instant } from '../lib/time.ts'
import { formatBytes } from '../lib/bytes.ts'
import { attemptRef } from './attempt-ref.ts'
import { recordedAt } from './thread.ts'
import type { World } from './world.ts'

/** How often an attempt that nobody hears of is looked at, at most. Each look in vain doubles the time to the next. */
const EVERY: Duration = 180_000
/** The first look tells what the others are compared with. */
const FIRST: Duration = 10_000
/** Memory runs out faster. */
const MEMORY_EVERY: Duration = 1_000

/** An attempt that is watched. Times are counted awake: a closed lid is not silence. */
interface Watch {
  readonly attempt: number
  written: number
  vitals: Vitals | null
  lookedAt: Duration
  quietSince: Duration
  pause: Duration
  cancel: () => void
}

/**
 * Sees what nobody rings for: that an attempt which lives is still at work, and stays within its memory. Nothing of it is
 * stored; a supervisor that comes back begins to watch anew.
 */
export class Vigil {
  readonly #world: World
  readonly #report: (sessionId: string, signal: Signal) => Promise<void>
  readonly #watches = new Map<string, Watch>()
  #isOver = false

  constructor(world: World, report: (sessionId: string, signal: Signal) => Promise<void>) {
    this.#world = world
    this.#report = report
  }

  /** Told of each session as it is now, as often as it changes. */
  follow(session: Session): void {
    const { id } = session.spec
    const known = this.#watches.get(id)
    const isWatched = isAtWork(session) && pauseOf(session) !== null && !this.#isOver
    if (known !== undefined && (!isWatched || known.attempt !== session.attempt)) this.#forget(id)
    if (isWatched && !this.#watches.has(id)) this.#begin(session)
  }

  stop(): void {
    this.#isOver = true
    for (const id of this.#watches.keys()) this.#forget(id)
  }

  #begin({ spec, attempt }: Session): void {
    const now = this.#world.clock.awake()
    const pause = spec.memory === null ? Math.min(FIRST, (spec.patience.silence ?? EVERY) / 4) : MEMORY_EVERY
    const watch: Watch = {
      attempt,
      written: 0,
      vitals: null,
      lookedAt: now,
      quietSince: now,
      pause,
      cancel: () => undefined,
    }
    this.#watches.set(spec.id, watch)
    this.#lookAfter(spec.id, watch, pause)
  }

  #forget(id: string): void {
    this.#watches.get(id)?.cancel()
    this.#watches.delete(id)
  }

  #lookAfter(id: string, watch: Watch, pause: Duration): void {
    const { clock, onTrouble } = this.#world
    watch.cancel = clock.ring(clock.now() + pause, () => {
      this.#look(id, watch).catch(cause => {
        onTrouble(id, cause)
        if (this.#watches.get(id) === watch) this.#lookAfter(id, watch, EVERY)
      })
    })
  }

  async #look(id: string, watch: Watch): Promise<void> {
    const { store, work, clock } = this.#world
    const session = store.load(id)
    if (session === undefined || session.attempt !== watch.attempt || !isAtWork(session)) return this.#forget(id)
    if (this.#isTalking(session, watch)) return this.#lookAfter(id, watch, watch.pause)
    const usage = await work.vitals(attemptRef(session))
    if (this.#watches.get(id) !== watch) return
    const at = clock.now()
    const isQuiet = this.#compare(session, watch, { ...usage, recordedAt: this.#recordedAt(session) })
    const trouble = judgeMemory(session, usage) ?? judgeQuiet(session, watch)
    if (trouble !== null) {
      await this.#report(id, { at, attempt: watch.attempt, chance: clock.chance(), ...trouble })
      if (this.#watches.get(id) !== watch) return // It is being ended.
    }
    const usual = pauseOf(session) ?? EVERY
    watch.pause = isQuiet ? watch.pause * 2 : usual
    this.#lookAfter(
      id,
      watch,
      Math.min(watch.pause, untilVerdict(session, watch), session.spec.memory ? usual : Infinity),
    )
  }

  /** One that writes is at work, and nothing else needs to be looked at, unless its memory is counted. */
  #isTalking(session: Session, watch: Watch): boolean {
    const { work, clock } = this.#world
    const written = work.written(attemptRef(session))
    if (session.spec.memory !== null || written === watch.written) return false
    const now = clock.awake()
    Object.assign(watch, { written, vitals: null, lookedAt: now, quietSince: now, pause: pauseOf(session) ?? EVERY })
    return true
  }

  /** Whether nothing happened since the last look. The first one knows nothing. */
  #compare(session: Session, watch: Watch, vitals: Vitals): boolean {
    const now = this.#world.clock.awake()
    const isQuiet = watch.vitals !== null && !hasMoved(watch.vitals, vitals, now - watch.lookedAt)
    if (!isQuiet || session.phase.name === 'blocked') watch.quietSince = now
    watch.vitals = vitals
    watch.lookedAt = now
    return isQuiet
  }

  #recordedAt(session: Session): Instant | null {
    const { work, agents } = this.#world
    return recordedAt(session, { work, agent: agents(session.spec.agent), others: () => [] })
  }
}

function isAtWork({ phase, exit }: Session): boolean {
  return exit === null && (phase.name === 'running' || (phase.name === 'blocked' && !phase.isIdle))
}

/** How long to the next look when all is well; null when there is nothing to look for. */
function pauseOf({ spec }: Session): Duration | null {
  if (spec.memory !== null) return MEMORY_EVERY
  return spec.patience.silence === null ? null : Math.min(EVERY, spec.patience.silence / 4)
}

/** Awake time left until silence is judged. */
function untilVerdict(session: Session, { lookedAt, quietSince }: Watch): Duration {
  const { silence } = session.spec.patience
  if (silence === null) return EVERY
  const left = patienceWith(silence, session.activity.tools.at(-1) ?? null) - (lookedAt - quietSince)
  return left > 0 ? left : EVERY
}

type Finding =
  | { readonly type: 'agent.hung'; readonly evidence: string }
  | { readonly type: 'memory.exceeded'; readonly evidence: string }

function judgeQuiet({ spec, phase, activity }: Session, { vitals, lookedAt, quietSince }: Watch): Finding | null {
  const { silence } = spec.patience
  if (silence === null || vitals === null || phase.name === 'blocked') return null
  const tool = activity.tools.at(-1) ?? null
  const evidence = judgeSilence(silence, { quiet: lookedAt - quietSince, vitals, tool })
  return evidence === null ? null : { type: 'agent.hung', evidence }
}

function judgeMemory({ spec }: Session, usage: { memory: number; processes: readonly number[] }): Finding | null {
  if (spec.memory === null || usage.memory <= spec.memory) return null
  const count = usage.processes.length
  const held = `${formatBytes(usage.memory)} in ${count} ${count === 1 ? 'process' : 'processes'}`
  return { type: 'memory.exceeded', evidence: `${held}, where ${formatBytes(spec.memory)} are allowed` }
}
