import fs from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { checkSession, type SessionFigures } from '../checks/check-session.ts'
import { seededRandom } from '../../../testkit/system/seeded-random.ts'
import { makeSessionPlan } from './session-plan.ts'
import { ChaosSession } from './chaos-session.ts'
import type { FleetContext } from './fleet-context.ts'

/** Many sessions that start, work and end, until the fleet closes. */
export class Fleet {
  readonly figures: SessionFigures[] = []
  readonly settled: ChaosSession[] = []
  readonly #context: FleetContext
  readonly #seed: number
  readonly #open = new Set<ChaosSession>()
  #begun = 0
  #isClosing = false
  #workers: Promise<void>[] = []

  constructor(context: FleetContext, seed: number) {
    this.#context = context
    this.#seed = seed
  }

  /** Sessions that exist and are not known to have ended. */
  get live(): ChaosSession[] {
    return [...this.#open].filter(session => session.id !== undefined)
  }

  start(count: number): void {
    this.#workers = Array.from({ length: count }, (_, lane) => this.#worker(lane))
  }

  /** Resolves when the last session has ended and was checked. */
  async close(): Promise<void> {
    this.#isClosing = true
    await Promise.all(this.#workers)
  }

  async #worker(lane: number): Promise<void> {
    await pause(lane * 30)
    while (!this.#isClosing) await this.#one()
  }

  async #one(): Promise<void> {
    const task = `c${++this.#begun}`
    const session = new ChaosSession(makeSessionPlan(task, seededRandom(this.#seed, task)), this.#context)
    this.#open.add(session)
    try {
      const view = await session.run()
      this.figures.push(await checkSession(session, view, this.#context))
      await this.#clean(session)
    } catch (cause) {
      this.#context.findings.add('stuck', `${session.name}: ${cause instanceof Error ? cause.stack : cause}`)
    } finally {
      this.#open.delete(session)
      this.settled.push(session)
    }
  }

  /** Removes a session. One with a finding stays for inspection. */
  async #clean(session: ChaosSession): Promise<void> {
    if (this.#context.findings.names(session.name)) return
    fs.rmSync(this.#context.environment.journalOf(session.plan.task), { force: true })
    await this.#context.user.ask(async client => {
      if (session.view() === undefined) return
      await client.clean({ ids: [session.id as string] })
    })
  }
}
