import fs from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { checkSession, type SessionFigures } from '../checks/check-session.ts'
import { dice } from '../dice.ts'
import { planOf } from './plan.ts'
import { Story } from './story.ts'
import type { Surroundings } from './surroundings.ts'

/** Many sessions that begin, work and end, until nobody begins another. */
export class Fleet {
  readonly figures: SessionFigures[] = []
  readonly settled: Story[] = []
  readonly #around: Surroundings
  readonly #seed: number
  readonly #open = new Set<Story>()
  #begun = 0
  #isClosing = false
  #lanes: Promise<void>[] = []

  constructor(around: Surroundings, seed: number) {
    this.#around = around
    this.#seed = seed
  }

  /** Sessions that are known to exist and not known to have ended. */
  get live(): Story[] {
    return [...this.#open].filter(story => story.id !== undefined)
  }

  start(count: number): void {
    this.#lanes = Array.from({ length: count }, (_, lane) => this.#lane(lane))
  }

  /** Resolves when the last session has ended and was checked. */
  async close(): Promise<void> {
    this.#isClosing = true
    await Promise.all(this.#lanes)
  }

  async #lane(lane: number): Promise<void> {
    await pause(lane * 30)
    while (!this.#isClosing) await this.#one()
  }

  async #one(): Promise<void> {
    const task = `c${++this.#begun}`
    const story = new Story(planOf(task, dice(this.#seed, task)), this.#around)
    this.#open.add(story)
    try {
      const view = await story.live()
      this.figures.push(await checkSession(story, view, this.#around))
      await this.#clean(story)
    } catch (cause) {
      this.#around.findings.add('stuck', `${story.name}: ${cause instanceof Error ? cause.stack : cause}`)
    } finally {
      this.#open.delete(story)
      this.settled.push(story)
    }
  }

  /** One whose check found something stays to be looked at. */
  async #clean(story: Story): Promise<void> {
    if (this.#around.findings.names(story.name)) return
    fs.rmSync(this.#around.theatre.journalOf(story.plan.task), { force: true })
    await this.#around.user.ask(async client => {
      if (story.view() === undefined) return
      await client.clean({ ids: [story.id as string] })
    })
  }
}
