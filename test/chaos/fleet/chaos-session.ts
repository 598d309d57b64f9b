import { setTimeout as pause } from 'node:timers/promises'
import type { SessionId } from '../../../src/core/session/session-id-and-name.ts'
import { Refusal } from '../../../src/lib/errors.ts'
import type { SessionView } from '../../../src/api/contract/responses.ts'
import { readSession } from '../../../src/views/read-session.ts'
import { readSessions } from '../../../testkit/views/stored-sessions.ts'
import type { SessionPlan } from './session-plan.ts'
import type { FleetContext } from './fleet-context.ts'

/** Milliseconds between two checks of a user who waits for the end. */
const POLL_INTERVAL = 150
/** Milliseconds that a session may take at most from the last request to its end. */
const MAX_DURATION = 180_000

/** Almost no delays: the run measures how fast a supervisor is. */
const RESTART_POLICY = { limit: 1_000, nextDelay: 50, maxDelay: 500 } as const

/** One session from start to end, as its user sees it. */
export class ChaosSession {
  readonly plan: SessionPlan
  readonly name: string
  id: SessionId | undefined
  /** Accepted messages, in order. */
  readonly accepted: string[] = []
  /** Number of times that a fault killed its agent. */
  strikes = 0
  /** Killed parts of its terminal: the recorded output may have a gap, as documented. */
  readonly hurt = new Set<'recorder' | 'terminal'>()
  stops = 0
  resumes = 0
  giveUps = 0
  readonly #around: FleetContext

  constructor(plan: SessionPlan, context: FleetContext) {
    this.plan = plan
    this.name = `demo-${plan.task}`
    this.#around = context
  }

  /** Runs the session to its end. Returns the final view; throws if it does not end. */
  async run(): Promise<SessionView> {
    const { plan } = this
    await this.#begin()
    const stop = plan.stopAfter === null ? undefined : this.#stopAfter(plan.stopAfter)
    for (const [i, message] of plan.messages.slice(1).entries()) {
      await pause(plan.pauses[i] ?? 0)
      await this.#send(message)
    }
    await stop
    let view = await this.#runToEnd()
    if (plan.afterthought !== null && view.outcome === 'done') {
      await this.#send(plan.afterthought)
      view = await this.#runToEnd()
    }
    return view
  }

  view(): SessionView | undefined {
    return this.id === undefined ? undefined : readSession(this.#around.environment.home, this.id)
  }

  /** Starts the session. A request without an answer may have succeeded, so a retry checks first. */
  async #begin(): Promise<void> {
    const { environment, user } = this.#around
    const [prompt = ''] = this.plan.messages
    const request = {
      agent: 'demo',
      argv: [],
      prompt: Buffer.from(prompt).toString('base64'),
      name: this.plan.task,
      cwd: environment.project,
      env: { PATH: environment.env['PATH'] ?? '', CHAOS_JOURNAL: environment.journalOf(this.plan.task) },
      mode: this.plan.mode,
      supervision: { maxTime: null, restart: RESTART_POLICY },
    } as const
    const { id } = await user.ask(async client => this.#found() ?? (await client.run(request)))
    this.id = id
    this.accepted.push(prompt)
    this.#around.onMoment('launched')
  }

  #found(): SessionView | undefined {
    return readSessions(this.#around.environment.home).find(view => view.name === this.name)
  }

  async #send(text: string): Promise<void> {
    const request = { key: text, text: Buffer.from(text).toString('base64') }
    await this.#around.user.ask(client => client.send(this.id as SessionId, request))
    this.accepted.push(text)
    this.#around.onMoment('accepted')
  }

  async #stopAfter(delay: number): Promise<void> {
    await pause(delay)
    await this.#around.user.ask(client => client.stop(this.id as SessionId))
    this.stops++
  }

  /** Waits for the end. Resumes a session that gave up, or was stopped and has more to do. */
  async #runToEnd(): Promise<SessionView> {
    for (;;) {
      const view = await this.#ended()
      const isUnread = view.messages.confirmed < this.accepted.length
      const isGivenUp = view.outcome === 'gave-up'
      const isLeft = view.outcome === 'stopped' && !isUnread && !(this.plan.isResumedAfterStop && this.resumes === 0)
      if (!isGivenUp && (view.outcome !== 'stopped' || isLeft)) return view
      if (isGivenUp) this.giveUps++
      await this.#resume()
    }
  }

  async #resume(): Promise<void> {
    try {
      await this.#around.user.ask(client => client.resume(this.id as SessionId))
    } catch (cause) {
      // An earlier request succeeded although its answer got lost.
      if (!(cause instanceof Refusal) || !['session-running', 'session-done'].includes(cause.code)) throw cause
    }
    this.resumes++
  }

  async #ended(): Promise<SessionView> {
    const end = performance.now() + MAX_DURATION
    for (;;) {
      const view = this.view()
      if (view?.phase === 'ended') return view
      if (performance.now() > end) throw new Error(`${this.name} is still ${view?.phase}: ${JSON.stringify(view)}`)
      await pause(POLL_INTERVAL)
    }
  }
}
