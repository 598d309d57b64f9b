import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { between, type RandomSource, seededRandom } from './seeded-random.ts'
import type { FaultEffect, FaultContext } from './faults/fault.ts'
import { FAULTS, type FaultKind } from './faults/faults.ts'
import type { EventWaiter } from './event-waiter.ts'

/** Milliseconds between two blows. */
const SHORTEST_PAUSE = 10
const LONGEST_PAUSE = 90
/** The longest that a blow waits for the moment it is aimed at. */
const AIM_TIMEOUT = 250
const AIMS = ['launched', 'accepted', 'sweep', 'started'] as const
const AIMED_SHARE = 0.35

export interface InjectedFault extends FaultEffect {
  readonly fault: string
}

/**
 * Decides which fault comes next, whom it hits and after which pause. All decisions follow from the seed; how the machine
 * answers does not, so that two runs of one seed are two of a kind and not the same.
 */
export class FaultScheduler {
  readonly injected: InjectedFault[] = []
  /** Decisions for which there was nobody to strike. */
  missed = 0
  readonly #context: FaultContext
  readonly #moments: EventWaiter
  readonly #roll: RandomSource
  readonly #faults: readonly FaultKind[]

  constructor(context: FaultContext, moments: EventWaiter, options: { seed: number; only: readonly string[] }) {
    this.#context = context
    this.#moments = moments
    this.#roll = seededRandom(options.seed, 'director')
    this.#faults = FAULTS.filter(({ name }) => options.only.length === 0 || options.only.includes(name))
  }

  get kills(): number {
    return this.injected.reduce((sum, { kills }) => sum + kills, 0)
  }

  async injectFaults(kills: number, until: number, onProgress: (kills: number) => void): Promise<void> {
    let isMissed = false
    for (let decision = 1; this.kills < kills && performance.now() < until; decision++) {
      const { fault, aim, wait, roll: random } = this.#decide(decision)
      if (aim === undefined) await pause(isMissed ? SHORTEST_PAUSE : wait)
      else await this.#moments.wait([aim], AIM_TIMEOUT)
      const effect = await fault.strike(this.#context, random)
      isMissed = effect === undefined
      if (effect === undefined) this.missed++
      else this.#remember({ fault: fault.name, ...effect })
      onProgress(this.kills)
    }
  }

  /** Also in a file, for whoever looks into a broken promise. */
  #remember(blow: InjectedFault): void {
    this.injected.push(blow)
    const { fault, at, story: session } = blow
    const line = `${new Date().toISOString()} ${at.toFixed(1)} ${fault} ${session?.name ?? ''}\n`
    fs.appendFileSync(path.join(this.#context.environment.evidence, 'blows'), line)
  }

  /** Each decision has dice of its own, so that a blow that found nobody does not change the ones after it. */
  #decide(decision: number): { fault: FaultKind; aim: string | undefined; wait: number; roll: RandomSource } {
    const fault = byWeight(this.#faults, this.#roll())
    const aim = this.#roll() < AIMED_SHARE ? AIMS[Math.floor(this.#roll() * AIMS.length)] : undefined
    const wait = between(this.#roll, SHORTEST_PAUSE, LONGEST_PAUSE)
    return { fault, aim, wait, roll: seededRandom(decision, `blow ${this.#roll()}`) }
  }
}

function byWeight(faults: readonly FaultKind[], roll: number): FaultKind {
  let left = roll * faults.reduce((sum, { weight }) => sum + weight, 0)
  const found = faults.find(({ weight }) => (left -= weight) < 0)
  return found ?? (faults[0] as FaultKind)
}
