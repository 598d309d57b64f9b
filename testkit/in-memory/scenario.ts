import type { Event } from '../../src/core/session/events.ts'
import type { InspectedWork } from '../../src/core/policy/verify.ts'
import type { Session, Spec } from '../../src/core/session/session-state.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { Duration } from '../../src/lib/time.ts'
import { Superseded } from '../../src/ports/store.ts'
import { testSessionId } from '../core/ids.ts'
import { NO_WORK } from './work-inspector.ts'
import { InjectedCrash, type CrashPoint, CrashInjector } from './call-interceptors.ts'
import type { ScriptedProgram } from './scripted-process.ts'
import { Simulation, type SimulatedSupervisor, makeSpec, type SpecOverrides } from './simulation.ts'
import { CallSuspender } from './call-interceptors.ts'
import { flushPromises } from './virtual-clock.ts'

/** A session from start to end, and the actions of its user. */
export interface Scenario {
  readonly spec: SpecOverrides & Pick<Spec, 'agent'>
  readonly program: ScriptedProgram
  /** The user stops the session this long after the start. */
  readonly stopAfter?: Duration
  /** Messages of the user, and their time after the start. */
  readonly sends?: readonly { readonly after: Duration; readonly text: string }[]
  /** True (the default) if the machine knows at once that an attempt has no processes left. */
  readonly hasGroups?: boolean
  /** Longest time without a supervisor after which the session still ends the same; default 30 s. */
  readonly endures?: Duration
  /** The work that the verifier finds at the end; default none. */
  readonly shown?: InspectedWork
  /** Issues of the project's task tracker that are closed at the end. */
  readonly closes?: readonly string[]
}

/** The final state of a scenario. It must be the same however often the supervisor was killed. */
export interface ScenarioResult {
  readonly session: Omit<Session, 'spec'>
  readonly events: readonly Event[]
  readonly transcript: string
  /** Each process that ever started, in order. */
  readonly starts: readonly string[]
  readonly alive: readonly string[]
  /** The input that the agents recorded, by thread. */
  readonly records: readonly (readonly [string, readonly string[]])[]
  readonly pending: number
  /** Recorded notices, delivered notices and hook runs, without repetitions. */
  readonly notices: readonly string[]
  readonly heard: readonly string[]
  readonly ran: readonly string[]
  /** The closed issues, each as often as it was closed. */
  readonly closed: readonly string[]
  readonly letters: readonly string[]
  readonly panes: readonly string[]
  readonly troubles: readonly unknown[]
}

export interface ScenarioRun {
  readonly result: ScenarioResult
  /** Calls to the outside of each supervisor, in order. */
  readonly calls: readonly (readonly string[])[]
  /** Number of killed supervisors. */
  readonly crashes: number
  /** Largest number of times that one notice was delivered or one hook ran. */
  readonly maxRepetitions: number
}

/** Runs a scenario. The first supervisor is killed at the first crash point, the next one at the second … */
export async function runScenario(
  scenario: Scenario,
  crashPoints: readonly CrashPoint[] = [],
  options: { downFor?: Duration } = {},
): Promise<ScenarioRun> {
  const simulation = openSimulation(scenario)
  const injectors = [...crashPoints.map(crashPoint => new CrashInjector(crashPoint)), new CrashInjector()]
  const user = new SimulatedUser(simulation, scenario)
  for (const injector of injectors) {
    const supervisor = simulation.supervisor(injector)
    await runUntilCrash(() => runToEnd(simulation, supervisor, user, () => injector.hasFailed))
    if (!injector.hasFailed) break
    simulation.machine.listeners.clear()
    await simulation.clock.advance(options.downFor ?? 0)
  }
  const calls = injectors.map(injector => injector.calls)
  const all = [...simulation.notificationLog.delivered, ...simulation.notificationLog.hookRuns]
  const maxRepetitions = Math.max(0, ...all.map(id => all.filter(other => other === id).length))
  const crashes = injectors.filter(injector => injector.hasFailed).length
  return { result: readResult(simulation, user.id), calls, crashes, maxRepetitions }
}

function openSimulation({ shown, spec, program, hasGroups, closes = [] }: Scenario): Simulation {
  const simulation = new Simulation({ [spec.agent]: program })
  simulation.machine.hasGroups = hasGroups ?? true
  simulation.shown = shown ?? NO_WORK
  simulation.beads.root = closes.length === 0 ? null : '/'
  simulation.beads.issues = closes.map(id => ({ id, title: id, state: 'open' }))
  return simulation
}

export interface TakeoverRun {
  readonly result: ScenarioResult
  readonly calls: readonly string[]
  /** Calls of the first supervisor after another one superseded it. */
  readonly afterwards: readonly string[]
}

/** Runs a scenario in which the first supervisor is suspended in its n-th call and wakes when another one is done. */
export async function runWithTakeover(scenario: Scenario, number: number): Promise<TakeoverRun> {
  const simulation = openSimulation(scenario)
  const user = new SimulatedUser(simulation, scenario)
  let successor: SimulatedSupervisor | undefined
  const suspender = new CallSuspender(number, () => {
    successor = simulation.supervisor()
  })
  const first = simulation.supervisor(suspender)
  const suspendedRun = runToEnd(simulation, first, user, () => suspender.hasBegun).catch(tolerateSuperseded)
  await Promise.race([suspendedRun, suspender.begun])
  if (successor !== undefined) await runToEnd(simulation, successor, user)
  suspender.wake()
  await suspendedRun
  await flushPromises()
  return { result: readResult(simulation, user.id), calls: suspender.calls, afterwards: suspender.after }
}

function tolerateSuperseded(cause: unknown): void {
  if (!(cause instanceof Superseded)) throw cause
}

/** A user who repeats each request until the supervisor has accepted it. */
class SimulatedUser {
  id = testSessionId('s0')
  readonly #stage: Simulation
  readonly #scenario: Scenario
  #asked = 0

  constructor(simulation: Simulation, scenario: Scenario) {
    this.#stage = simulation
    this.#scenario = scenario
  }

  async act({ engine }: SimulatedSupervisor): Promise<void> {
    const session = this.#stage.session(this.id)
    const now = this.#stage.clock.now()
    if (session === undefined) {
      this.id = testSessionId(`s${++this.#asked}`)
      for (const after of [this.#scenario.stopAfter ?? 0, ...this.#sends.map(send => send.after)])
        this.#stage.clock.schedule(now + after, () => undefined)
      const files = { prompt: Buffer.from('do it'), env: {} }
      await engine.create({ ...makeSpec(this.#scenario.spec), id: this.id, createdAt: now }, files)
    } else if (now >= session.spec.createdAt + (this.#scenario.stopAfter ?? Infinity) && session.wanted !== 'stop') {
      await engine.stop(this.id)
    }
    await this.#sendDueMessages(engine)
  }

  /** True if the user has nothing left to do once the session has ended. */
  get isDone(): boolean {
    const keys = this.#stage.session(this.id)?.messages.map(message => message.key) ?? []
    const isClosed = (issue: string): boolean => this.#stage.beads.state(issue) === 'done'
    return this.#sends.every(({ text }) => keys.includes(text)) && (this.#scenario.closes ?? []).every(isClosed)
  }

  async #sendDueMessages(engine: Engine): Promise<void> {
    const now = this.#stage.clock.now()
    for (const { after, text } of this.#sends) {
      const session = this.#stage.session(this.id)
      if (session === undefined || now < session.spec.createdAt + after) return
      if (session.messages.some(message => message.key === text)) continue
      await engine.send(this.id, { key: text, summary: text, text: Buffer.from(text) })
    }
  }

  get #sends(): NonNullable<Scenario['sends']> {
    return this.#scenario.sends ?? []
  }
}

async function runToEnd(
  simulation: Simulation,
  supervisor: SimulatedSupervisor,
  user: SimulatedUser,
  isOver = () => false,
): Promise<void> {
  await supervisor.engine.start()
  const hasEnded = (): boolean => simulation.hasEnded(user.id) && user.isDone
  while (!isOver() && !hasEnded()) {
    await user.act(supervisor)
    if (!isOver() && !hasEnded() && !(await simulation.clock.runNextTimer())) return
  }
}

async function runUntilCrash(life: () => Promise<void>): Promise<void> {
  try {
    await life()
  } catch (cause) {
    if (!(cause instanceof InjectedCrash)) throw cause
  }
}

/**
 * Reads the final state. Ids depend on the number of requests, so this function replaces them to make two runs
 * comparable.
 */
function readResult(simulation: Simulation, id: string): ScenarioResult {
  const { machine } = simulation
  const named = (key: string): string =>
    key.startsWith(`${id}.`) || key.startsWith(`${id}-`) ? key.slice(id.length + 1) : key
  const { spec: _, ...session } = simulation.session(id) as Session
  return {
    session,
    events: simulation
      .events(id)
      .map(event => (event.type === 'hook.ended' ? { ...event, id: named(event.id) } : event)),
    transcript: simulation.transcript(id),
    starts: machine.starts.map(named),
    alive: machine.alive().map(named),
    records: [...machine.records],
    pending: simulation.disk.outbox.length,
    notices: simulation.disk.notices.map(row => named(row.id)),
    heard: [...new Set(simulation.notificationLog.delivered.map(line => named(line.replace(/^phone /, ''))))],
    ran: [...new Set(simulation.notificationLog.hookRuns.map(named))],
    closed: simulation.beads.closed.map(line => line.split(' ')[0] ?? ''),
    letters: [...machine.mailbox],
    panes: [...machine.panes],
    troubles: simulation.troubles,
  }
}
