import { setTimeout as pause } from 'node:timers/promises'
import { connect } from '../api/client.ts'
import { refusal } from '../api/contract/problems.ts'
import type { RunRequest } from '../api/contract/run-request.ts'
import type { WorkerExit } from '../core/loop/signals.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import type { Session } from '../core/session/session-state.ts'
import { NO_USAGE, totalUsage } from '../core/session/usage.ts'
import { Refusal } from '../lib/errors.ts'
import type { Duration } from '../lib/time.ts'
import type { SerialLoops, Worker, WorkerRequest, WorkerState, Workers } from '../ports/workers.ts'
import type { Home } from '../state/home.ts'
import { findOtherSerialLoop, findSerialLoop } from '../views/loop/find-serial-loop-in-checkout.ts'
import { watchSession } from '../views/read-session.ts'
import { readChildren, readLiveSessions, readStoredSession } from '../world/store/reader.ts'

/** The keeper restarts a supervisor within a second, unless the user stopped it. */
const RETRY_INTERVAL: Duration = 500

/** Runs the workers of a loop as sessions of the supervisor; `parent` is the id of the loop's session. */
export class SessionWorkers implements Workers {
  readonly #home: Home
  readonly #parent: SessionId

  constructor(home: Home, parent: SessionId) {
    this.#home = home
    this.#parent = parent
  }

  async ensureRunning(key: string, request: WorkerRequest, ending: AbortSignal): Promise<Worker> {
    const known = this.#children().find(({ spec }) => spec.parent?.key === key)
    if (known !== undefined) return await this.#resumeStopped(known, request, ending)
    const { id, name } = await this.#retryUntilReachable(
      client => client.run({ ...toRunRequest(request), parent: { id: this.#parent, key } }),
      ending,
    )
    return { id, name }
  }

  /**
   * Resumes a worker that was stopped together with its loop. A supervisor may die after it resumed the worker and
   * before it answered, so each request reads the record first: if the worker is no longer stopped, the supervisor has
   * resumed it. If the user has moved the project meanwhile, the worker continues in the new folder.
   */
  async #resumeStopped(
    { spec: { id, name } }: Session,
    { cwd, env }: WorkerRequest,
    ending: AbortSignal,
  ): Promise<Worker> {
    const isStopping = (): boolean => {
      const record = readStoredSession(this.#home, id)
      return record?.wanted === 'stop' && record.phase.name !== 'ended'
    }
    if (isStopping()) for await (const _ of watchSession(this.#home, id, ending, () => !isStopping()));
    await this.#retryUntilReachable(async client => {
      const record = readStoredSession(this.#home, id)
      if (record === undefined) throw refusal('no-session', 'the session of this iteration was removed')
      const isMoved = record.spec.cwd !== cwd
      if (isStopped(record)) await client.resume(id, isMoved ? { cwd, env } : {})
    }, ending)
    return { id, name }
  }

  async resume(id: SessionId, ending: AbortSignal): Promise<void> {
    await this.#retryUntilReachable(async client => {
      if (readStoredSession(this.#home, id)?.phase.name === 'blocked') await client.resume(id)
    }, ending)
  }

  async *watch(id: SessionId, ending: AbortSignal): AsyncGenerator<WorkerState> {
    for await (const { phase, reason, trouble } of watchSession(this.#home, id, ending))
      yield { phase, reason, problem: trouble }
  }

  readExit(id: SessionId): WorkerExit {
    const record = readStoredSession(this.#home, id)
    const said = record?.attempt.result?.text ?? ''
    const spent = record === undefined ? NO_USAGE : totalUsage(record.spending)
    if (record?.phase.name !== 'ended')
      return { outcome: 'failed', reason: 'its session was removed', trouble: null, finalOutput: said, spent }
    const { outcome, reason, trouble } = record.phase
    return { outcome, reason, trouble, finalOutput: said, spent }
  }

  isLoopStopping(): boolean {
    const self = readStoredSession(this.#home, this.#parent)
    return self === undefined || self.wanted === 'stop'
  }

  async stopAll(ending: AbortSignal): Promise<void> {
    const alive = this.#children().filter(({ phase, wanted }) => phase.name !== 'ended' && wanted !== 'stop')
    await Promise.all(alive.map(({ spec }) => this.#retryUntilReachable(client => client.stop(spec.id), ending)))
  }

  #children(): Session[] {
    return readChildren(this.#home, this.#parent)
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

function toRunRequest({ options, name, prompt, cwd, env }: WorkerRequest): Omit<RunRequest, 'parent'> {
  const { agent, argv, model, effort, autonomy, supervision } = options
  return {
    agent,
    argv,
    prompt: Buffer.from(prompt).toString('base64'),
    name,
    cwd,
    env,
    mode: 'headless',
    autonomy,
    ...(model !== null && { model }),
    ...(effort !== null && { effort }),
    supervision,
  }
}

/** Finds serial loops among the sessions of a home. */
export function storedSerialLoops(home: Home, self: { readonly id: SessionId; readonly cwd: string }): SerialLoops {
  return {
    find: ({ isEarlier } = { isEarlier: false }) => {
      const sessions = readLiveSessions(home)
      if (!isEarlier) return findSerialLoop(self.cwd, sessions)?.spec.name ?? null
      const own = sessions.find(({ spec }) => spec.id === self.id)
      if (own === undefined) return null
      const earlier = sessions.filter(({ spec, clockSince }) => spec.id !== self.id && clockSince <= own.clockSince)
      return findOtherSerialLoop(own.spec, earlier)?.spec.name ?? null
    },
  }
}
