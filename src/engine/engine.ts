import { isIdle, type Session, type Spec } from '../core/session.ts'
import type { Signal, SignalOf } from '../core/signals.ts'
import { whoIs } from '../core/stopping.ts'
import { invariant } from '../lib/trouble.ts'
import { Turnstile } from '../lib/turnstile.ts'
import { Superseded } from '../ports/store.ts'
import { Alarm } from './alarm.ts'
import { attemptRef } from './attempt-ref.ts'
import { Attendant } from './attendant.ts'
import { Courier, type Trial } from './courier.ts'
import { FamilyBudget } from './family-budget.ts'
import { HookRunner } from './hook-runner.ts'
import { Keepers } from './keepers.ts'
import { firstStep, type Inherited } from './legacy.ts'
import { Offspring } from './offspring.ts'
import { outputOf, OutputWatch } from './output-watch.ts'
import { Recorder } from './recorder.ts'
import { Rounds } from './rounds.ts'
import { requestedIn } from './stored-requests.ts'
import { count, hasRecord } from './thread.ts'
import { Vigil } from './vigil.ts'
import type { World } from './world.ts'

/**
 * Carries decisions from signal to deed. One session is handled one signal at a time; different ones side by side.
 * Everything it knows is in the store: it may be killed at any moment and started again.
 */
export class Engine {
  readonly #world: World
  readonly #turnstile = new Turnstile()
  /** Looks that have not begun yet: another request for the same one changes nothing. */
  readonly #queued = new Map<string, Promise<void>>()
  readonly #recorder: Recorder
  readonly #attendant: Attendant
  readonly #alarm: Alarm
  readonly #rounds: Rounds
  readonly #vigil: Vigil
  readonly #output: OutputWatch
  readonly #courier: Courier
  readonly #hooks: HookRunner
  /** Who keep what is made, beside the work. */
  readonly keepers: Keepers
  readonly #offspring: Offspring
  readonly #familyBudget: FamilyBudget
  #isDown = false

  constructor(world: World) {
    this.#world = world
    this.#recorder = new Recorder(world)
    this.#attendant = new Attendant(world, this.#recorder, {
      isDown: () => this.#isDown,
      look: id => void this.look(id),
      saveBefore: session => this.keepers.before(session),
      situation: session => this.keepers.situation(session),
    })
    this.#alarm = new Alarm(world, (id, at) => this.#dispatch(id, { at, type: 'clock.due' }))
    this.#rounds = new Rounds(world, {
      isInCharge: () => this.#isInCharge(),
      enter: (id, deed) => this.#enter(id, deed),
      dispatch: (id, signal) => this.#dispatch(id, signal),
    })
    this.#vigil = new Vigil(world, (id, signal) => this.#dispatch(id, signal))
    this.#output = new OutputWatch(world, (id, signal) => this.#dispatch(id, signal))
    this.#courier = new Courier(world)
    this.#hooks = new HookRunner(world)
    this.keepers = new Keepers(world, (id, signal) => this.#dispatch(id, signal))
    this.#offspring = new Offspring(
      world.store,
      (id, by) => void this.stop(id, { by }).catch(cause => world.onTrouble(id, cause)),
    )
    this.#familyBudget = new FamilyBudget(
      world,
      (id, signal) => void this.#dispatch(id, signal).catch(cause => world.onTrouble(id, cause)),
    )
    this.#recorder.onRecord((session, { notices, hooks }) => {
      this.#alarm.set()
      this.#vigil.follow(session)
      this.#output.follow(session)
      this.keepers.follow(session)
      this.#offspring.follow(session)
      this.#familyBudget.follow(session)
      if (notices.length > 0) this.#courier.wake()
      if (hooks.length > 0) this.#hooks.wake()
    })
  }

  /**
   * Starting and recovering are the same: take up what is pending, look at what is alive, set the alarm. With `isHeld`
   * nothing that is not alive is started: it is held until somebody resumes it.
   */
  async start({ isHeld = false } = {}): Promise<void> {
    const { work, store, clock } = this.#world
    if (isHeld) for (const session of store.live()) this.#holdUnlessAlive(session)
    const at = clock.now()
    for (const { spec } of this.#rounds.overdueEndings()) this.#recorder.decide(spec.id, [{ at, type: 'clock.due' }])
    for (const session of store.live()) this.#takeStoredRequest(session)
    work.onNews(id => void this.look(id))
    for (const session of store.live()) {
      this.#vigil.follow(session)
      this.#output.follow(session)
    }
    this.#courier.start()
    this.#hooks.wake()
    await Promise.all(this.#unsettled(store.live()).map(id => this.look(id)))
    this.#alarm.set()
    this.#rounds.wakeSetBack()
    this.keepers.start()
    this.#offspring.start()
    this.#familyBudget.start()
    await this.mend().catch(cause => this.#world.onTrouble('', cause))
  }

  /** Accepts a piece of work: when this returns, it will be seen through; when it throws, nothing of it stays. */
  async create(
    spec: Spec,
    files: { prompt: Uint8Array | null; env: Readonly<Record<string, string>> },
    inherited: Inherited = {},
  ): Promise<Session> {
    const { work, store } = this.#world
    return this.#turnstile.pass(spec.id, async () => {
      try {
        const hasTranscript = this.#world.agents(spec.agent).read !== undefined
        await work.prepare(spec.id, { ...files, hasTranscript })
        this.#recorder.record(await firstStep(spec, { hasPrompt: files.prompt !== null, ...inherited }, work))
      } catch (cause) {
        if (!(cause instanceof Superseded) && store.load(spec.id) === undefined) await work.remove(spec.id)
        throw cause
      }
      void this.look(spec.id)
      return store.load(spec.id) as Session
    })
  }

  /** Records the wish, or throws. Once recorded, it is carried out. */
  async stop(id: string, { isNow = false, by }: { isNow?: boolean; by?: string | undefined } = {}): Promise<void> {
    const how = { ...(isNow && { isNow }), ...(by !== undefined && { by }) }
    await this.#wish(id, { at: this.#world.clock.now(), type: 'user.stop', ...how })
  }

  /** Has a session stand still until it is resumed; what lives of it is ended. `by`: the session that asks for it. */
  async hold(id: string, by?: string): Promise<void> {
    await this.#wish(id, { at: this.#world.clock.now(), type: 'user.hold', reason: `held by ${whoIs(by)}` })
  }

  /** Bytes that all attempts of these sessions have written. */
  written(sessions: readonly Session[]): number {
    return sessions.reduce((total, session) => total + outputOf(session, this.#world.work), 0)
  }

  /** Names pieces of a session's work, or changes them; which they are is told in its turn. */
  async nameTasks(id: string, name: (session: Session) => SignalOf<'user.tasks'>['tasks']): Promise<void> {
    const { store, clock } = this.#world
    await this.#turnstile.pass(id, async () => {
      this.#assertInCharge()
      const session = store.load(id)
      if (session === undefined) return
      this.#recorder.decide(id, [{ at: clock.now(), type: 'user.tasks', tasks: name(session) }])
    })
  }

  /** Gives it another name to be shown under, or another folder; nothing is started. */
  amend(id: string, change: { label?: string; cwd?: string }): Promise<void> {
    return this.#wish(id, { at: this.#world.clock.now(), type: 'user.amend', ...change })
  }

  async #wish(id: string, wish: Signal): Promise<void> {
    await this.#turnstile.pass(id, async () => {
      this.#assertInCharge()
      this.#recorder.decide(id, [wish])
    })
    await this.look(id)
  }

  /**
   * Takes a message for a session: it is on disk when this returns, and its number is told. The same key again is the same
   * message.
   */
  async send(id: string, message: { key: string; gist: string; text: Uint8Array; by?: string }): Promise<number> {
    const { work, store, clock } = this.#world
    const number = await this.#turnstile.pass(id, async () => {
      this.#assertInCharge()
      const session = store.load(id)
      invariant(session !== undefined, `a message was sent to session ${id}, which is not there`)
      const known = session.messages.find(({ key }) => key === message.key)
      if (known !== undefined) return known.id
      const next = (session.messages.at(-1)?.id ?? 0) + 1
      await work.keep(id, next, message.text)
      const { text: _, ...news } = message
      this.#recorder.decide(id, [
        { at: clock.now(), type: 'user.message', ...news, ...count(session, this.#attendant.worldOf(session)) },
      ])
      return next
    })
    void this.look(id)
    return number
  }

  /** Takes a session up that has ended, rests or waits for a person; with other variables or in another folder from now on. */
  async resume(
    id: string,
    { env = {}, cwd }: { env?: Readonly<Record<string, string>>; cwd?: string } = {},
  ): Promise<void> {
    await this.#turnstile.pass(id, async () => {
      this.#assertInCharge()
      const session = this.#world.store.load(id)
      if (session === undefined) return
      const wish: Signal = {
        at: this.#world.clock.now(),
        type: 'user.resume',
        ...(cwd !== undefined && { cwd }),
        ...count(session, this.#attendant.worldOf(session)),
      }
      if (Object.keys(env).length > 0) await this.#world.work.changeEnvironment(id, env)
      this.#recorder.decide(id, [wish])
    })
    void this.look(id)
  }

  /** Whether the agent's own record of its conversation is there; null where it keeps none that can be looked up. */
  hasThread(session: Session): boolean | null {
    const place = this.#attendant.worldOf(session)
    if (place.agent.find === undefined) return session.thread.id === null ? false : null
    return hasRecord(session, place)
  }

  /** Looks what is new about a session, decides, records, performs; until nothing is new. */
  look(id: string): Promise<void> {
    const queued = this.#queued.get(id)
    if (queued !== undefined) return queued
    const looked = this.#enter(id, async () => {
      this.#queued.delete(id)
      await this.#attendant.performPending(id)
      while (this.#attendant.takeIn(id)) {
        await this.#attendant.performPending(id)
        await this.#world.clock.breathe()
      }
      await this.#attendant.performPending(id)
    })
    this.#queued.set(id, looked)
    return looked
  }

  /** Forgets an ended session with all its files; its checkpoints only if asked to. False when it is not ended. */
  async remove(id: string, { checkpoints = false } = {}): Promise<boolean> {
    const { store, work } = this.#world
    await this.keepers.settle(id)
    return this.#turnstile.pass(id, async () => {
      const session = store.load(id)
      if (session?.phase.name !== 'ended') return false
      await this.#attendant.performPending(id)
      this.#hooks.attend(id)
      if (checkpoints) await this.keepers.forget(session)
      await work.remove(id) // First, because a full disk may be the reason to remove it.
      store.remove(id)
      return true
    })
  }

  /** The slow round for what nobody rings for: shims killed under a living agent, lost panes. */
  async reconcile(): Promise<void> {
    if (!this.#isInCharge()) return
    this.#alarm.set() // A timer stands still while a lid is closed; what it was set for does not.
    this.#rounds.wakeSetBack()
    await Promise.all(this.#unsettled(this.#rounds.inspect()).map(id => this.look(id)))
    if (this.#world.store.live().some(session => session.spec.mode === 'tty')) await this.mend()
  }

  /** The quick round, every second: sessions that write more than they may. */
  watchOutput(): void {
    if (!this.#isDown) this.#output.look()
  }

  mend(): Promise<void> {
    return this.#rounds.mend()
  }

  /** Tells a test on these channels of the user's. */
  testChannels(channels: readonly string[], terminals: readonly string[]): Promise<Trial[]> {
    return this.#courier.test(channels, terminals)
  }

  onChange(listener: (session: Session) => void): () => void {
    return this.#recorder.onRecord(listener)
  }

  /** Resolves when nothing is being done any more. Nothing new is begun. */
  async shutDown(): Promise<void> {
    this.#isDown = true
    this.#alarm.stop()
    this.#vigil.stop()
    this.#output.stop()
    this.#world.work.shutDown()
    await Promise.all([this.#turnstile.idle(), this.#courier.stop(), this.#hooks.stop(), this.keepers.stop()])
  }

  /** A command may have been killed after it had stored its request and before it ended the processes. */
  #takeStoredRequest(session: Session): void {
    if (session.exit !== null || isIdle(session)) return
    const { work, clock } = this.#world
    this.#recorder.decide(session.spec.id, requestedIn(work, attemptRef(session), clock.now()))
  }

  /** What has ended meanwhile has ended. What waits for a person, with nothing alive, stands still anyway and says for what. */
  #holdUnlessAlive({ spec: { id } }: Session): void {
    const { store, work, clock } = this.#world
    while (this.#attendant.takeIn(id));
    const session = store.load(id)
    if (session === undefined || (session.phase.name === 'blocked' && isIdle(session))) return
    if (session.life !== null && session.exit === null && work.isAlive(session.life)) return
    const reason = 'held: the supervisor was started with --no-resume'
    this.#recorder.decide(id, [{ at: clock.now(), type: 'user.hold', reason }])
  }

  /** Live sessions, and ended ones for which something is still to be done. */
  #unsettled(live: readonly Session[]): string[] {
    const pending = this.#world.store.pending().map(item => item.sessionId)
    return [...new Set([...live.map(session => session.spec.id), ...pending])]
  }

  /** Woken after another supervisor took over, we must do nothing more. */
  #isInCharge(): boolean {
    try {
      this.#world.store.assertEpoch()
      return !this.#isDown
    } catch (cause) {
      this.#world.onTrouble('', cause)
      return false
    }
  }

  #assertInCharge(): void {
    this.#world.store.assertEpoch()
    if (this.#isDown) throw new Superseded('the supervisor is being stopped')
  }

  async #dispatch(id: string, signal: Signal): Promise<void> {
    await this.#enter(id, async () => {
      this.#recorder.decide(id, [signal])
      await this.#attendant.performPending(id)
    })
  }

  #enter(id: string, work: () => Promise<void>): Promise<void> {
    return this.#turnstile.pass(id, async () => {
      if (this.#isDown) return
      try {
        await work()
      } catch (cause) {
        this.#world.onTrouble(id, cause)
      }
    })
  }
}
