import type { SessionId } from '../core/session/session-id-and-name.ts'
import { isIdle, type Session, type Spec } from '../core/session/session-state.ts'
import type { Signal, SignalOf } from '../core/session/signals.ts'
import { describeRequester } from '../core/session/reactions/stop.ts'
import { invariant } from '../lib/errors.ts'
import { KeyedMutex } from '../lib/keyed-mutex.ts'
import { Superseded } from '../ports/store.ts'
import { WakeUpTimer } from './wake-up-timer.ts'
import { attemptRef } from '../ports/runtime.ts'
import { SessionRunner } from './session-runner.ts'
import { NotificationSender, type ChannelTestResult } from './background/notification-sender.ts'
import { FamilyBudget } from './child-spending.ts'
import { HookQueue } from './background/hook-queue.ts'
import { BackgroundServices } from './background/session-services.ts'
import { createFirstDecision, type SessionSource } from './store-imported-session.ts'
import { ChildSessions } from './background/stop-children-of-ended-session.ts'
import { totalOutput, OutputMonitor } from './background/output-limit-monitor.ts'
import { DecisionCommitter } from './decision-committer.ts'
import { PeriodicCheck } from './periodic-check.ts'
import { requestedIn } from './signal-from-stored-request.ts'
import { countThreadMessages, hasThreadRecord } from './thread-survey.ts'
import { HangMonitor } from './background/hang-monitor.ts'
import type { EngineContext } from './context.ts'

/** Sessions. The observation of a session without news takes 0.2 ms, so a request waits for 4 ms at most. */
const OBSERVATION_GROUP = 20

/**
 * Carries decisions from signal to effect. The engine handles the signals of one session one at a time, and different
 * sessions side by side. The store holds everything that the engine knows, so the engine can die at any moment and
 * start again.
 */
export class Engine {
  readonly #context: EngineContext
  readonly #mutex = new KeyedMutex()
  /** Observations that have not begun yet. A second request for the same session shares the first. */
  readonly #queuedObservations = new Map<string, Promise<void>>()
  readonly #committer: DecisionCommitter
  readonly #runner: SessionRunner
  readonly #dueTimer: WakeUpTimer
  readonly #periodicCheck: PeriodicCheck
  readonly #hangMonitor: HangMonitor
  readonly #outputMonitor: OutputMonitor
  readonly #notifications: NotificationSender
  readonly #hooks: HookQueue
  /** The services that save, verify and publish work beside the sessions. */
  readonly services: BackgroundServices
  readonly #children: ChildSessions
  readonly #familyBudget: FamilyBudget
  #isShutDown = false

  constructor(context: EngineContext) {
    this.#context = context
    this.#committer = new DecisionCommitter(context)
    this.#runner = new SessionRunner(context, this.#committer, {
      isShutDown: () => this.#isShutDown,
      observe: id => void this.observe(id),
      saveBeforeStart: session => this.services.saveBeforeStart(session),
      gitSummary: session => this.services.gitSummary(session),
    })
    this.#dueTimer = new WakeUpTimer(context, (id, at) => this.#dispatch(id, { at, type: 'clock.due' }))
    this.#periodicCheck = new PeriodicCheck(context, {
      holdsEpoch: () => this.#holdsEpoch(),
      runExclusively: (id, action) => this.#runExclusively(id, action),
      dispatch: (id, signal) => this.#dispatch(id, signal),
    })
    this.#hangMonitor = new HangMonitor(context, (id, signal) => this.#dispatch(id, signal))
    this.#outputMonitor = new OutputMonitor(context, (id, signal) => this.#dispatch(id, signal))
    this.#notifications = new NotificationSender(context)
    this.#hooks = new HookQueue(context)
    this.services = new BackgroundServices(context, (id, signal) => this.#dispatch(id, signal))
    this.#children = new ChildSessions(context, (id, by) => this.stop(id, { by }))
    this.#familyBudget = new FamilyBudget(
      context,
      (id, signal) => void this.#dispatch(id, signal).catch(cause => context.onTrouble(id, cause)),
    )
    this.#committer.onCommit((session, { notices, hooks }) => {
      this.#dueTimer.set()
      this.#hangMonitor.onSessionChanged(session)
      this.#outputMonitor.onSessionChanged(session)
      this.services.onSessionChanged(session)
      this.#children.onSessionChanged(session)
      this.#familyBudget.follow(session)
      if (notices.length > 0) this.#notifications.wake()
      if (hooks.length > 0) this.#hooks.wake()
    })
  }

  /**
   * Starts and recovers by the same path: performs pending effects, observes live sessions, sets the timer. With
   * `isHeld`, the engine starts no process: it holds each session without a live process until a user resumes it.
   */
  async start({ isHeld = false } = {}): Promise<void> {
    const { runtime, store, clock } = this.#context
    if (isHeld) for (const session of store.live()) this.#holdUnlessAlive(session)
    const at = clock.now()
    for (const { spec } of this.#periodicCheck.overdueStops())
      this.#committer.decideAndCommit(spec.id, [{ at, type: 'clock.due' }])
    await Promise.all(store.live().map(session => this.#takeStoredRequest(session)))
    runtime.onChange(id => void this.observe(id))
    const live = store.live()
    for (const session of live) {
      this.#hangMonitor.onSessionChanged(session)
      this.#outputMonitor.onSessionChanged(session)
    }
    this.#notifications.start()
    this.#hooks.wake()
    await this.#observeAll(this.#sessionsToObserve(live))
    this.#dueTimer.set()
    this.#periodicCheck.wakeAfterClockRollback()
    this.services.start()
    this.#children.start()
    this.#familyBudget.start()
    await this.repair().catch(cause => this.#context.onTrouble('', cause))
  }

  /**
   * Accepts a session. When this returns, the engine completes the session even after a crash; when it throws, nothing
   * of the session remains.
   */
  async create(
    spec: Spec,
    files: { prompt: Uint8Array | null; env: Readonly<Record<string, string>> },
    source: SessionSource = {},
  ): Promise<Session> {
    const { runtime, store } = this.#context
    return this.#mutex.run(spec.id, async () => {
      try {
        const hasTranscript = this.#context.agents(spec.agent).readLine !== undefined
        await runtime.prepare(spec.id, { ...files, hasTranscript })
        this.#committer.commit(
          await createFirstDecision(spec, { hasPrompt: files.prompt !== null, ...source }, runtime),
        )
      } catch (cause) {
        if (!(cause instanceof Superseded) && store.load(spec.id) === undefined) await runtime.removeSession(spec.id)
        throw cause
      }
      void this.observe(spec.id)
      return store.load(spec.id) as Session
    })
  }

  /** Records the stop request, or throws. The engine carries out a recorded request even after a crash. */
  async stop(id: SessionId, { isNow = false, by }: { isNow?: boolean; by?: string | undefined } = {}): Promise<void> {
    const how = { ...(isNow && { isNow }), ...(by !== undefined && { by }) }
    await this.#applyUserSignal(id, { at: this.#context.clock.now(), type: 'user.stop', ...how })
  }

  /** Pauses a session until a user resumes it, and ends its processes. `by` is the session that requests the hold. */
  async hold(id: SessionId, by?: string): Promise<void> {
    await this.#applyUserSignal(id, {
      at: this.#context.clock.now(),
      type: 'user.hold',
      reason: `held by ${describeRequester(by)}`,
    })
  }

  /** Returns the number of bytes that all attempts of these sessions have written. */
  written(sessions: readonly Session[]): number {
    return sessions.reduce((total, session) => total + totalOutput(session, this.#context.runtime), 0)
  }

  /** Adds or changes tasks of a session. The engine calls `name` with the current session under its lock. */
  async setTasks(id: SessionId, name: (session: Session) => SignalOf<'user.tasks'>['tasks']): Promise<void> {
    const { store, clock } = this.#context
    await this.#mutex.run(id, async () => {
      this.#assertHoldsEpoch()
      const session = store.load(id)
      if (session === undefined) return
      this.#committer.decideAndCommit(id, [{ at: clock.now(), type: 'user.tasks', tasks: name(session) }])
    })
  }

  /** Changes a session's label or folder; starts nothing. */
  amend(id: SessionId, change: { label?: string; cwd?: string }): Promise<void> {
    return this.#applyUserSignal(id, { at: this.#context.clock.now(), type: 'user.amend', ...change })
  }

  async #applyUserSignal(id: SessionId, request: Signal): Promise<void> {
    await this.#mutex.run(id, async () => {
      this.#assertHoldsEpoch()
      this.#committer.decideAndCommit(id, [request])
    })
    await this.observe(id)
  }

  /**
   * Stores a message for a session and returns its number. The message is on disk when this returns. A second call with
   * the same key returns the number of the first message.
   */
  async send(id: SessionId, message: { key: string; summary: string; text: Uint8Array; by?: string }): Promise<number> {
    const { runtime, store, clock } = this.#context
    const number = await this.#mutex.run(id, async () => {
      this.#assertHoldsEpoch()
      const session = store.load(id)
      invariant(session !== undefined, `a message was sent to session ${id}, which is not there`)
      const known = session.messages.find(({ key }) => key === message.key)
      if (known !== undefined) return known.id
      const next = (session.messages.at(-1)?.id ?? 0) + 1
      await runtime.storeMessage(id, next, message.text)
      const { text: _, ...request } = message
      this.#committer.decideAndCommit(id, [
        {
          at: clock.now(),
          type: 'user.message',
          ...request,
          ...countThreadMessages(session, this.#runner.sessionContext(session)),
        },
      ])
      return next
    })
    void this.observe(id)
    return number
  }

  /** Resumes a session that has ended, rests or is blocked; `env` and `cwd` apply from now on. */
  async resume(
    id: SessionId,
    { env = {}, cwd }: { env?: Readonly<Record<string, string>>; cwd?: string } = {},
  ): Promise<void> {
    await this.#mutex.run(id, async () => {
      this.#assertHoldsEpoch()
      const session = this.#context.store.load(id)
      if (session === undefined) return
      const request: Signal = {
        at: this.#context.clock.now(),
        type: 'user.resume',
        ...(cwd !== undefined && { cwd }),
        ...countThreadMessages(session, this.#runner.sessionContext(session)),
      }
      if (Object.keys(env).length > 0) await this.#context.runtime.changeEnvironment(id, env)
      this.#committer.decideAndCommit(id, [request])
    })
    void this.observe(id)
  }

  /**
   * Returns true when the agent's own record of the conversation exists, and null when the agent keeps no record that
   * we can look up.
   */
  hasThread(session: Session): boolean | null {
    const context = this.#runner.sessionContext(session)
    if (context.agent.findThread === undefined) return session.thread.id === null ? false : null
    return hasThreadRecord(session, context)
  }

  /** Observes a session, decides, records and performs, until an observation finds no news. */
  observe(id: SessionId): Promise<void> {
    const queued = this.#queuedObservations.get(id)
    if (queued !== undefined) return queued
    const observation = this.#runExclusively(id, async () => {
      this.#queuedObservations.delete(id)
      await this.#runner.performPending(id)
      while (this.#runner.observeOnce(id)) {
        await this.#runner.performPending(id)
        await this.#context.clock.yieldEventLoop()
      }
      await this.#runner.performPending(id)
      if (!this.#isShutDown) this.#context.onSuccess?.(id) // A shutdown leaves effects pending.
    })
    this.#queuedObservations.set(id, observation)
    return observation
  }

  /**
   * Removes an ended session with all its files, and its checkpoints only on request. Returns false when the session
   * has not ended.
   */
  async remove(id: SessionId, { checkpoints = false } = {}): Promise<boolean> {
    const { store, runtime } = this.#context
    await this.services.saveRequested(id)
    return this.#mutex.run(id, async () => {
      const session = store.load(id)
      if (session?.phase.name !== 'ended') return false
      await this.#runner.performPending(id)
      this.#hooks.runNow(id)
      if (checkpoints) await this.services.removeCheckpoints(session)
      await runtime.removeSession(id) // Files go first, because a full disk may be the reason for the removal.
      store.remove(id)
      return true
    })
  }

  /** Runs the slow check for changes without a notification: shims killed under a live agent, lost panes. */
  async runPeriodicCheck(): Promise<void> {
    if (!this.#holdsEpoch()) return
    this.#dueTimer.set() // Timers do not advance while the machine sleeps, but due times pass.
    this.#periodicCheck.wakeAfterClockRollback()
    await this.#observeAll(this.#sessionsToObserve(this.#periodicCheck.sessionsToObserve()))
    if (this.#context.store.live().some(session => session.spec.mode === 'tty')) await this.repair()
  }

  /** Runs the quick check, every second, for sessions that exceed their output limit. */
  checkOutput(): void {
    if (!this.#isShutDown) this.#outputMonitor.check()
  }

  repair(): Promise<void> {
    return this.#periodicCheck.repair()
  }

  /** Sends a test notification on these channels. */
  testChannels(channels: readonly string[], terminals: readonly string[]): Promise<ChannelTestResult[]> {
    return this.#notifications.testChannels(channels, terminals)
  }

  onChange(listener: (session: Session) => void): () => void {
    return this.#committer.onCommit(listener)
  }

  /** Begins nothing new, and resolves when all running work has ended. */
  async shutDown(): Promise<void> {
    this.#isShutDown = true
    this.#dueTimer.stop()
    this.#outputMonitor.stop()
    this.#context.runtime.shutDown()
    await Promise.all([
      this.#mutex.idle(),
      this.#hangMonitor.stop(),
      this.#notifications.stop(),
      this.#hooks.stop(),
      this.#children.stop(),
      this.services.stop(),
    ])
  }

  /** Applies a request that a command stored before it died, possibly before it could end the processes. */
  async #takeStoredRequest(session: Session): Promise<void> {
    if (session.attempt.exit !== null || isIdle(session)) return
    const { runtime, clock } = this.#context
    const { id } = session.spec
    await this.#runExclusively(id, async () => {
      this.#committer.decideAndCommit(id, requestedIn(runtime, attemptRef(session), clock.now()))
    })
  }

  /**
   * Holds a session without a live process. Records an end that happened meanwhile, and leaves a blocked session
   * without a process as it is, so that it keeps its question.
   */
  #holdUnlessAlive({ spec: { id } }: Session): void {
    const { store, runtime, clock } = this.#context
    while (this.#runner.observeOnce(id));
    const session = store.load(id)
    if (session === undefined || session.phase.name === 'blocked') return
    if (
      session.attempt.process !== null &&
      session.attempt.exit === null &&
      runtime.isProcessAlive(session.attempt.process)
    )
      return
    const reason = 'held: the supervisor was started with --no-resume'
    this.#committer.decideAndCommit(id, [{ at: clock.now(), type: 'user.hold', reason }])
  }

  /** Observes these sessions side by side. Before each group it lets the supervisor answer requests and exits. */
  async #observeAll(ids: readonly SessionId[]): Promise<void> {
    const observations: Promise<void>[] = []
    for (const [index, id] of ids.entries()) {
      if (index % OBSERVATION_GROUP === 0) await this.#context.clock.yieldEventLoop()
      observations.push(this.observe(id))
    }
    await Promise.all(observations)
  }

  /** Returns the live sessions, and the ended sessions with pending effects. */
  #sessionsToObserve(live: readonly Session[]): SessionId[] {
    const pending = this.#context.store.pendingEffects().map(item => item.sessionId)
    return [...new Set([...live.map(session => session.spec.id), ...pending])]
  }

  /**
   * Returns false when another supervisor has taken over, for example while this one was suspended; then this one must
   * do nothing more.
   */
  #holdsEpoch(): boolean {
    try {
      this.#context.store.assertEpoch()
      return !this.#isShutDown
    } catch (cause) {
      this.#context.onTrouble('', cause)
      return false
    }
  }

  #assertHoldsEpoch(): void {
    this.#context.store.assertEpoch()
    if (this.#isShutDown) throw new Superseded('the supervisor is being stopped')
  }

  async #dispatch(id: SessionId, signal: Signal): Promise<void> {
    await this.#runExclusively(id, async () => {
      this.#committer.decideAndCommit(id, [signal])
      await this.#runner.performPending(id)
    })
  }

  #runExclusively(id: SessionId, action: () => Promise<void>): Promise<void> {
    return this.#mutex.run(id, async () => {
      if (this.#isShutDown) return
      try {
        await action()
      } catch (cause) {
        this.#context.onTrouble(id, cause, this.#runner.describeFailure(id, cause))
      }
    })
  }
}
