import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { between, type RandomSource, seededRandom } from '../../testkit/system/seeded-random.ts'
import type { FaultEffect, FaultContext } from './faults/fault.ts'
import { FAULTS, type FaultKind } from './faults/faults.ts'
import type { EventWaiter } from './event-waiter.ts'

/** Milliseconds between two faults. */
const SHORTEST_PAUSE = 10
const LONGEST_PAUSE = 90
/** Milliseconds that a fault waits at most for its moment. */
const AIM_TIMEOUT = 250
const AIMS = ['launched', 'accepted', 'sweep', 'started'] as const
const AIMED_SHARE = 0.35

export interface InjectedFault extends FaultEffect {
  readonly fault: string
}

/**
 * Decides the next fault, its victim and the pause before it. All decisions follow from the seed, but the reactions of
 * the machine do not, so two runs of one seed are similar and not equal.
 */
export class FaultScheduler {
  readonly injected: InjectedFault[] = []
  /** Number of decisions without a possible victim. */
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

  /** Also appends the fault to a file, for the analysis of a broken promise. */
  #remember(injected: InjectedFault): void {
    this.injected.push(injected)
    const { fault, at, story: session } = injected
    const line = `${new Date().toISOString()} ${at.toFixed(1)} ${fault} ${session?.name ?? ''}\n`
    fs.appendFileSync(path.join(this.#context.environment.evidence, 'blows'), line)
  }

  /** Decides with a random source of its own, so that a fault without a victim does not change later ones. */
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
