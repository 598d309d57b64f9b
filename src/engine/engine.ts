import { isIdle, type Session, type Spec } from '../core/session/session.ts'
import type { Signal, SignalOf } from '../core/session/signals.ts'
import { describeRequester } from '../core/session/reactions/stop.ts'
import { invariant } from '../lib/errors.ts'
import { KeyedMutex } from '../lib/keyed-mutex.ts'
import { Superseded } from '../ports/store.ts'
import { DueTimer } from './due-timer.ts'
import { attemptRef } from '../ports/runtime.ts'
import { SessionRunner } from './session-runner.ts'
import { NotificationSender, type ChannelTestResult } from './background/notification-sender.ts'
import { FamilyBudget } from './family-budget.ts'
import { HookQueue } from './background/hook-queue.ts'
import { BackgroundServices } from './background/services.ts'
import { createFirstDecision, type SessionSource } from './create-session.ts'
import { ChildSessions } from './background/child-sessions.ts'
import { totalOutput, OutputMonitor } from './background/output-monitor.ts'
import { DecisionCommitter } from './decision-committer.ts'
import { Reconciler } from './reconcile.ts'
import { requestedIn } from './stored-requests.ts'
import { countThreadMessages, hasThreadRecord } from './thread-lookup.ts'
import { HangMonitor } from './background/hang-monitor.ts'
import type { EngineContext } from './context.ts'

/**
 * Carries decisions from signal to deed. One session is handled one signal at a time; different ones side by side.
 * Everything it knows is in the store: it may be killed at any moment and started again.
 */
export class Engine {
  readonly #context: EngineContext
  readonly #mutex = new KeyedMutex()
  /** Looks that have not begun yet: another request for the same one changes nothing. */
  readonly #queuedObservations = new Map<string, Promise<void>>()
  readonly #committer: DecisionCommitter
  readonly #runner: SessionRunner
  readonly #dueTimer: DueTimer
  readonly #reconciler: Reconciler
  readonly #hangMonitor: HangMonitor
  readonly #outputMonitor: OutputMonitor
  readonly #notifications: NotificationSender
  readonly #hooks: HookQueue
  /** Who keep what is made, beside the work. */
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
    this.#dueTimer = new DueTimer(context, (id, at) => this.#dispatch(id, { at, type: 'clock.due' }))
    this.#reconciler = new Reconciler(context, {
      holdsEpoch: () => this.#holdsEpoch(),
      runExclusively: (id, action) => this.#runExclusively(id, action),
      dispatch: (id, signal) => this.#dispatch(id, signal),
    })
    this.#hangMonitor = new HangMonitor(context, (id, signal) => this.#dispatch(id, signal))
    this.#outputMonitor = new OutputMonitor(context, (id, signal) => this.#dispatch(id, signal))
    this.#notifications = new NotificationSender(context)
    this.#hooks = new HookQueue(context)
    this.services = new BackgroundServices(context, (id, signal) => this.#dispatch(id, signal))
    this.#children = new ChildSessions(
      context.store,
      (id, by) => void this.stop(id, { by }).catch(cause => context.onTrouble(id, cause)),
    )
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
   * Starting and recovering are the same: take up what is pending, look at what is alive, set the alarm. With `isHeld`
   * nothing that is not alive is started: it is held until somebody resumes it.
   */
  async start({ isHeld = false } = {}): Promise<void> {
    const { runtime, store, clock } = this.#context
    if (isHeld) for (const session of store.live()) this.#holdUnlessAlive(session)
    const at = clock.now()
    for (const { spec } of this.#reconciler.overdueStops())
      this.#committer.decideAndCommit(spec.id, [{ at, type: 'clock.due' }])
    for (const session of store.live()) this.#takeStoredRequest(session)
    runtime.onChange(id => void this.observe(id))
    for (const session of store.live()) {
      this.#hangMonitor.onSessionChanged(session)
      this.#outputMonitor.onSessionChanged(session)
    }
    this.#notifications.start()
    this.#hooks.wake()
    await Promise.all(this.#sessionsToObserve(store.live()).map(id => this.observe(id)))
    this.#dueTimer.set()
    this.#reconciler.wakeAfterClockRollback()
    this.services.start()
    this.#children.start()
    this.#familyBudget.start()
    await this.repair().catch(cause => this.#context.onTrouble('', cause))
  }

  /** Accepts a piece of work: when this returns, it will be seen through; when it throws, nothing of it stays. */
  async create(
    spec: Spec,
    files: { prompt: Uint8Array | null; env: Readonly<Record<string, string>> },
    inherited: SessionSource = {},
  ): Promise<Session> {
    const { runtime, store } = this.#context
    return this.#mutex.run(spec.id, async () => {
      try {
        const hasTranscript = this.#context.agents(spec.agent).readLine !== undefined
        await runtime.prepare(spec.id, { ...files, hasTranscript })
        this.#committer.commit(
          await createFirstDecision(spec, { hasPrompt: files.prompt !== null, ...inherited }, runtime),
        )
      } catch (cause) {
        if (!(cause instanceof Superseded) && store.load(spec.id) === undefined) await runtime.removeSession(spec.id)
        throw cause
      }
      void this.observe(spec.id)
      return store.load(spec.id) as Session
    })
  }

  /** Records the wish, or throws. Once recorded, it is carried out. */
  async stop(id: string, { isNow = false, by }: { isNow?: boolean; by?: string | undefined } = {}): Promise<void> {
    const how = { ...(isNow && { isNow }), ...(by !== undefined && { by }) }
    await this.#applyUserSignal(id, { at: this.#context.clock.now(), type: 'user.stop', ...how })
  }

  /** Has a session stand still until it is resumed; what lives of it is ended. `by`: the session that asks for it. */
  async hold(id: string, by?: string): Promise<void> {
    await this.#applyUserSignal(id, {
      at: this.#context.clock.now(),
      type: 'user.hold',
      reason: `held by ${describeRequester(by)}`,
    })
  }

  /** Bytes that all attempts of these sessions have written. */
  written(sessions: readonly Session[]): number {
    return sessions.reduce((total, session) => total + totalOutput(session, this.#context.runtime), 0)
  }

  /** Names pieces of a session's work, or changes them; which they are is told in its turn. */
  async setTasks(id: string, name: (session: Session) => SignalOf<'user.tasks'>['tasks']): Promise<void> {
    const { store, clock } = this.#context
    await this.#mutex.run(id, async () => {
      this.#assertHoldsEpoch()
      const session = store.load(id)
      if (session === undefined) return
      this.#committer.decideAndCommit(id, [{ at: clock.now(), type: 'user.tasks', tasks: name(session) }])
    })
  }

  /** Gives it another name to be shown under, or another folder; nothing is started. */
  amend(id: string, change: { label?: string; cwd?: string }): Promise<void> {
    return this.#applyUserSignal(id, { at: this.#context.clock.now(), type: 'user.amend', ...change })
  }

  async #applyUserSignal(id: string, request: Signal): Promise<void> {
    await this.#mutex.run(id, async () => {
      this.#assertHoldsEpoch()
      this.#committer.decideAndCommit(id, [request])
    })
    await this.observe(id)
  }

  /**
   * Takes a message for a session: it is on disk when this returns, and its number is told. The same key again is the same
   * message.
   */
  async send(id: string, message: { key: string; gist: string; text: Uint8Array; by?: string }): Promise<number> {
    const { runtime, store, clock } = this.#context
    const number = await this.#mutex.run(id, async () => {
      this.#assertHoldsEpoch()
      const session = store.load(id)
      invariant(session !== undefined, `a message was sent to session ${id}, which is not there`)
      const known = session.messages.find(({ key }) => key === message.key)
      if (known !== undefined) return known.id
      const next = (session.messages.at(-1)?.id ?? 0) + 1
      await runtime.storeMessage(id, next, message.text)
      const { text: _, ...news } = message
      this.#committer.decideAndCommit(id, [
        {
          at: clock.now(),
          type: 'user.message',
          ...news,
          ...countThreadMessages(session, this.#runner.sessionContext(session)),
        },
      ])
      return next
    })
    void this.observe(id)
    return number
  }

  /** Takes a session up that has ended, rests or waits for a person; with other variables or in another folder from now on. */
  async resume(
    id: string,
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

  /** Whether the agent's own record of its conversation is there; null where it keeps none that can be looked up. */
  hasThread(session: Session): boolean | null {
    const place = this.#runner.sessionContext(session)
    if (place.agent.findThread === undefined) return session.thread.id === null ? false : null
    return hasThreadRecord(session, place)
  }

  /** Looks what is new about a session, decides, records, performs; until nothing is new. */
  observe(id: string): Promise<void> {
    const queued = this.#queuedObservations.get(id)
    if (queued !== undefined) return queued
    const looked = this.#runExclusively(id, async () => {
      this.#queuedObservations.delete(id)
      await this.#runner.performPending(id)
      while (this.#runner.observeOnce(id)) {
        await this.#runner.performPending(id)
        await this.#context.clock.yieldEventLoop()
      }
      await this.#runner.performPending(id)
    })
    this.#queuedObservations.set(id, looked)
    return looked
  }

  /** Forgets an ended session with all its files; its checkpoints only if asked to. False when it is not ended. */
  async remove(id: string, { checkpoints = false } = {}): Promise<boolean> {
    const { store, runtime } = this.#context
    await this.services.saveRequested(id)
    return this.#mutex.run(id, async () => {
      const session = store.load(id)
      if (session?.phase.name !== 'ended') return false
      await this.#runner.performPending(id)
      this.#hooks.runNow(id)
      if (checkpoints) await this.services.removeCheckpoints(session)
      await runtime.removeSession(id) // First, because a full disk may be the reason to remove it.
      store.remove(id)
      return true
    })
  }

  /** The slow round for what nobody rings for: shims killed under a living agent, lost panes. */
  async reconcile(): Promise<void> {
    if (!this.#holdsEpoch()) return
    this.#dueTimer.set() // A timer stands still while a lid is closed; what it was set for does not.
    this.#reconciler.wakeAfterClockRollback()
    await Promise.all(this.#sessionsToObserve(this.#reconciler.sessionsToObserve()).map(id => this.observe(id)))
    if (this.#context.store.live().some(session => session.spec.mode === 'tty')) await this.repair()
  }

  /** The quick round, every second: sessions that write more than they may. */
  checkOutput(): void {
    if (!this.#isShutDown) this.#outputMonitor.check()
  }

  repair(): Promise<void> {
    return this.#reconciler.repair()
  }

  /** Tells a test on these channels of the user's. */
  testChannels(channels: readonly string[], terminals: readonly string[]): Promise<ChannelTestResult[]> {
    return this.#notifications.testChannels(channels, terminals)
  }

  onChange(listener: (session: Session) => void): () => void {
    return this.#committer.onCommit(listener)
  }

  /** Resolves when nothing is being done any more. Nothing new is begun. */
  async shutDown(): Promise<void> {
    this.#isShutDown = true
    this.#dueTimer.stop()
    this.#hangMonitor.stop()
    this.#outputMonitor.stop()
    this.#context.runtime.shutDown()
    await Promise.all([this.#mutex.idle(), this.#notifications.stop(), this.#hooks.stop(), this.services.stop()])
  }

  /** A command may have been killed after it had stored its request and before it ended the processes. */
  #takeStoredRequest(session: Session): void {
    if (session.exit !== null || isIdle(session)) return
    const { runtime: work, clock } = this.#context
    this.#committer.decideAndCommit(session.spec.id, requestedIn(work, attemptRef(session), clock.now()))
  }

  /** What has ended meanwhile has ended. What waits for a person, with nothing alive, stands still anyway and says for what. */
  #holdUnlessAlive({ spec: { id } }: Session): void {
    const { store, runtime, clock } = this.#context
    while (this.#runner.observeOnce(id));
    const session = store.load(id)
    if (session === undefined || (session.phase.name === 'blocked' && isIdle(session))) return
    if (session.life !== null && session.exit === null && runtime.isProcessAlive(session.life)) return
    const reason = 'held: the supervisor was started with --no-resume'
    this.#committer.decideAndCommit(id, [{ at: clock.now(), type: 'user.hold', reason }])
  }

  /** Live sessions, and ended ones for which something is still to be done. */
  #sessionsToObserve(live: readonly Session[]): string[] {
    const pending = this.#context.store.pendingEffects().map(item => item.sessionId)
    return [...new Set([...live.map(session => session.spec.id), ...pending])]
  }

  /** Woken after another supervisor took over, we must do nothing more. */
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

  async #dispatch(id: string, signal: Signal): Promise<void> {
    await this.#runExclusively(id, async () => {
      this.#committer.decideAndCommit(id, [signal])
      await this.#runner.performPending(id)
    })
  }

  #runExclusively(id: string, work: () => Promise<void>): Promise<void> {
    return this.#mutex.run(id, async () => {
      if (this.#isShutDown) return
      try {
        await work()
      } catch (cause) {
        this.#context.onTrouble(id, cause)
      }
    })
  }
}
