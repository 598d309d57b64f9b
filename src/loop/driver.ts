import { setTimeout as pause } from 'node:timers/promises'
import { decide } from '../core/loop/decide.ts'
import { type Deed, deedsOf, dueOf, toBegin } from '../core/loop/deeds.ts'
import type { Loop } from '../core/loop/loop.ts'
import type { LoopSignal } from '../core/loop/signals.ts'
import type { Duration } from '../lib/time.ts'
import { Trouble, wordsOf } from '../lib/trouble.ts'
import type { Desk, Gear } from './gear.ts'
import { despair } from './despair.ts'
import { perform } from './perform.ts'

/** The world gets this many chances, each after twice the time. */
const CHANCES = 6
const FIRST_PAUSE: Duration = 250

interface Hooks {
  /** Called before anything is done about it. */
  readonly record: (loop: Loop) => void
  readonly tell: (before: Loop, after: Loop) => void
}

/**
 * Carries a loop from what it sees to what it does: each signal is decided upon, written down, and then whatever follows is begun that is not
 * under way, and called off that is not wanted any more. What it does is nothing but what follows from what is written down.
 */
export class Driver {
  readonly #gear: Gear
  readonly #hooks: Hooks
  readonly #underWay = new Map<string, AbortController>()
  #loop: Loop
  #timer: NodeJS.Timeout | undefined
  #isOver = false
  #over: (loop: Loop) => void = () => undefined
  #broken: (cause: unknown) => void = () => undefined

  constructor(gear: Gear, loop: Loop, hooks: Hooks) {
    this.#gear = gear
    this.#loop = loop
    this.#hooks = hooks
  }

  /** Resolves when the loop has ended and nothing is left to do, or `ending` comes. Rejects when we ourselves are at fault. */
  async run(first: readonly LoopSignal[], ending: AbortSignal): Promise<Loop> {
    const over = new Promise<Loop>((resolve, reject) => {
      this.#over = resolve
      this.#broken = reject
    })
    const leave = (): void => this.#leave()
    ending.addEventListener('abort', leave, { once: true })
    // A loop that had ended is over again only if it still is after all of them.
    for (const signal of first) this.#learn(signal)
    this.#pursue()
    try {
      return await over
    } finally {
      ending.removeEventListener('abort', leave)
      this.#leave()
    }
  }

  #take(signal: LoopSignal): void {
    if (this.#isOver) return
    if (this.#learn(signal)) this.#pursue()
    else this.#setTimer()
  }

  /** Decides and writes it down; false when nothing follows. */
  #learn(signal: LoopSignal): boolean {
    const before = this.#loop
    const after = decide(before, signal)
    if (after === before) return false
    this.#hooks.record(after)
    this.#loop = after
    this.#hooks.tell(before, after)
    return true
  }

  #pursue(): void {
    if (this.#isOver) return
    const deeds = deedsOf(this.#loop)
    const wanted = new Set(deeds.map(({ key }) => key))
    for (const [key, calledOff] of this.#underWay) if (!wanted.has(key)) calledOff.abort()
    for (const deed of toBegin(deeds, new Set(this.#underWay.keys()))) this.#begin(deed)
    this.#setTimer()
    if (this.#loop.stage.name === 'ended' && this.#underWay.size === 0) this.#over(this.#loop)
  }

  #begin(deed: Deed): void {
    const calledOff = new AbortController()
    this.#underWay.set(deed.key, calledOff)
    const report: Desk['report'] = signal => {
      if (!calledOff.signal.aborted) this.#take({ ...signal, at: this.#gear.now() })
    }
    const desk: Desk = { gear: this.#gear, loop: () => this.#loop, report, ending: calledOff.signal }
    void insist(deed, desk).then(
      () => this.#done(deed),
      cause => {
        if (calledOff.signal.aborted) this.#done(deed)
        else this.#broken(cause)
      },
    )
  }

  #done({ key }: Deed): void {
    this.#underWay.delete(key)
    this.#pursue()
  }

  #setTimer(): void {
    clearTimeout(this.#timer)
    const now = this.#gear.now()
    const due = dueOf(this.#loop, now)
    if (due === null) return
    this.#timer = setTimeout(() => this.#take({ type: 'clock.due', at: this.#gear.now() }), Math.max(10, due - now))
  }

  #leave(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    for (const calledOff of this.#underWay.values()) calledOff.abort()
    this.#over(this.#loop)
  }
}

/** Does it, again when the world fails us; when it continues failing, says so. */
async function insist(deed: Deed, desk: Desk): Promise<void> {
  for (let chance = 1; ; chance++) {
    try {
      await perform(deed, desk)
      return
    } catch (cause) {
      if (desk.ending.aborted) return
      if (!(cause instanceof Trouble)) throw cause
      if (chance === CHANCES || !cause.mayHelpToRetry) return despair(deed, desk, wordsOf(cause))
      await pause(FIRST_PAUSE * 2 ** (chance - 1), undefined, { signal: desk.ending })
    }
  }
}
