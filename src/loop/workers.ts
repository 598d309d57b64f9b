import { setTimeout as pause } from 'node:timers/promises'
import { connect } from '../api/client.ts'
import { refusal } from '../api/contract/problems.ts'
import type { RunRequest } from '../api/contract/requests.ts'
import type { SessionView } from '../api/contract/responses.ts'
import type { Session } from '../core/session/session.ts'
import { Refusal } from '../lib/errors.ts'
import type { Duration } from '../lib/time.ts'
import { readSession } from '../views/sessions.ts'
import { watchSession } from '../views/sessions.ts'
import type { Home } from '../state/home.ts'
import { readStoredSessions, readStoredSession } from '../world/store/reader.ts'

/** The keeper restarts a supervisor within a second, unless the user stopped it. */
const RETRY_INTERVAL: Duration = 500

/** The worker sessions of a loop. Each key starts one session, even after repeated requests. */
export class Workers {
  readonly #home: Home
  readonly #parent: string

  constructor(home: Home, parent: string) {
    this.#home = home
    this.#parent = parent
  }

  /** Starts or resumes the worker, unless it has ended. */
  async ensureRunning(key: string, request: Omit<RunRequest, 'parent'>, ending: AbortSignal): Promise<SessionView> {
    const known = this.#children().find(({ spec }) => spec.parent?.key === key)
    if (known === undefined) {
      return this.#retryUntilReachable(client => client.run({ ...request, parent: { id: this.#parent, key } }), ending)
    }
    return await this.#resumeStopped(known.spec.id, ending)
  }

  /**
   * * Resumes a worker that was stopped together with its loop. A supervisor may die after it resumed the worker and
   * before it answered, so each request reads the record first: if the worker is no longer stopped, the supervisor has
   * resumed it.
   */
  async #resumeStopped(id: string, ending: AbortSignal): Promise<SessionView> {
    const isStopping = (): boolean => {
      const record = readStoredSession(this.#home, id)
      return record?.wanted === 'stop' && record.phase.name !== 'ended'
    }
    if (isStopping()) for await (const _ of watchSession(this.#home, id, ending, () => !isStopping()));
    return await this.#retryUntilReachable(async client => {
      const record = readStoredSession(this.#home, id)
      return record !== undefined && isStopped(record) ? await client.resume(id) : this.#readView(id)
    }, ending)
  }

  #readView(id: string): SessionView {
    const view = readSession(this.#home, id)
    if (view === undefined) throw refusal('no-session', 'the session of this iteration was removed')
    return view
  }

  /** Resumes a blocked worker after the loop has solved its problem. */
  async resume(id: string, ending: AbortSignal): Promise<void> {
    await this.#retryUntilReachable(async client => {
      if (readStoredSession(this.#home, id)?.phase.name === 'blocked') await client.resume(id)
    }, ending)
  }

  /** Yields the session now and after each change, until it has ended. */
  watch(id: string, ending: AbortSignal): AsyncGenerator<SessionView> {
    return watchSession(this.#home, id, ending)
  }

  readRecord(id: string): Session | undefined {
    return readStoredSession(this.#home, id)
  }

  /**
   * Returns true if the loop itself must stop: the supervisor then stops the workers as well, without a user's request.
   */
  isStopping(): boolean {
    const self = readStoredSession(this.#home, this.#parent)
    return self === undefined || self.wanted === 'stop'
  }

  /** Stops all running workers; resolves when the supervisor has recorded that. */
  async stopAll(ending: AbortSignal): Promise<void> {
    const alive = this.#children().filter(({ phase, wanted }) => phase.name !== 'ended' && wanted !== 'stop')
    await Promise.all(alive.map(({ spec }) => this.#retryUntilReachable(client => client.stop(spec.id), ending)))
  }

  #children(): Session[] {
    return readStoredSessions(this.#home).filter(({ spec }) => spec.parent?.id === this.#parent)
  }

  /** Retries until a supervisor answers: `restartLostSupervisor` starts one that does not come back by itself. */
  async #retryUntilReachable<T>(
    ask: (client: ReturnType<typeof connect>) => Promise<T>,
    ending: AbortSignal,
  ): Promise<T> {
    for (;;) {
      try {
        return await ask(connect(this.#home.daemonSocket))
      } catch (cause) {
        if (!(cause instanceof Refusal) || cause.code !== 'daemon-unreachable') throw cause
        await pause(RETRY_INTERVAL, undefined, { signal: ending })
      }
    }
  }
}

function isStopped({ phase }: Session): boolean {
  return phase.name === 'ended' && phase.outcome === 'stopped'
}
