import type { RepeatedTrouble } from '../../src/core/describe/repeated-action-failures.ts'
import { TroubleCounter, type TroubleRecords } from '../../src/engine/background/trouble-counter.ts'
import { DEFAULT_TIMINGS } from '../../src/core/session/supervisor-timings.ts'
import type { Event } from '../../src/core/session/events.ts'
import type { InspectedWork } from '../../src/core/policy/verify.ts'
import type { Session, Spec } from '../../src/core/session/session-state.ts'
import type { Supervision } from '../../src/core/session/supervision-options.ts'
import { NO_LIMITS } from '../../src/core/session/usage.ts'
import { DEFAULT_CHECKPOINT_OPTIONS } from '../../src/core/checkpoint/checkpoint.ts'
import { Engine } from '../../src/engine/engine.ts'
import type { Checkpoints } from '../../src/ports/checkpoints.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { HookRunner, Notifier } from '../../src/ports/notifications.ts'
import type { Store } from '../../src/ports/store.ts'
import type { Tracker } from '../../src/ports/tracker.ts'
import type { WorkInspector } from '../../src/ports/checks.ts'
import type { Runtime } from '../../src/ports/runtime.ts'
import { testSessionId } from '../core/ids.ts'
import { SimulatedMachine } from './machine.ts'
import { NotificationLog, inMemoryHookRunner, inMemoryNotifier } from './notifier.ts'
import { InMemoryDisk } from './disk.ts'
import { InMemoryCheckpoints } from './checkpoints.ts'
import { InMemoryStore } from './store.ts'
import { InMemoryBeads, inMemoryTracker } from './tracker.ts'
import { NO_WORK, inMemoryWorkInspector } from './work-inspector.ts'
import { InMemoryRuntime } from './runtime.ts'
import { CrashInjector, InjectedCrash } from './call-interceptors.ts'
import { scriptedAgents } from './scripted-agents.ts'
import type { ScriptedProgram } from './scripted-process.ts'
import { VirtualClock, flushPromises } from './virtual-clock.ts'

/** Every call that changes something outside, or reads a state that may change. */
const STORE_CALLS = ['record', 'settleEffect', 'remove'] as const
const NOTICE_CALLS = ['route', 'settleDeliveries', 'postpone', 'settleHook', 'deleteBefore'] as const
const WORK_CALLS = [
  'prepare',
  'changeEnvironment',
  'storeMessage',
  'launch',
  'attemptState',
  'request',
  'readOutput',
  'writeTranscript',
  'interrupt',
  'terminate',
  'sweep',
  'closePanes',
  'repair',
  'removeSession',
  'recordLogSize',
  'watchOutput',
  'acknowledge',
] as const

const TRACKER_CALLS = ['version', 'sync', 'readyIssues', 'findIssue', 'closeIssue', 'saveSnapshot'] as const

export interface SimulatedSupervisor {
  readonly engine: Engine
  readonly store: Store
}

/** Wraps the ports between a supervisor and the outside. */
export interface CallInterceptor {
  wrap<Port extends object>(port: Port, calls: readonly (keyof Port & string)[]): Port
  wrapClock?(clock: Clock): Clock
}

function troubleRecords({ troubles }: InMemoryDisk): TroubleRecords {
  return {
    read: id => JSON.parse(troubles.get(id) ?? 'null') as RepeatedTrouble | null,
    write: (id, trouble) => void troubles.set(id, JSON.stringify(trouble)),
    remove: id => void troubles.delete(id),
  }
}

/** A simulated world: a clock, a disk, a machine, and one supervisor after the other. */
export class Simulation {
  readonly clock = new VirtualClock()
  readonly disk = new InMemoryDisk()
  readonly machine: SimulatedMachine
  readonly notificationLog = new NotificationLog()
  /** The project's task tracker, if any. */
  readonly beads = new InMemoryBeads()
  /** The work that an inspection finds. */
  shown: InspectedWork = NO_WORK
  /** Lines that the supervisors logged. */
  readonly logLines: string[] = []
  /** Errors of effects, without injected crashes. */
  readonly troubles: unknown[] = []

  constructor(programs: Readonly<Record<string, ScriptedProgram>>) {
    this.machine = new SimulatedMachine(this.clock, programs)
  }

  /** Returns a supervisor on this disk and machine. It acts once its engine has started. */
  supervisor(interceptor: CallInterceptor = new CrashInjector()): SimulatedSupervisor {
    const inMemory = new InMemoryStore(this.disk)
    inMemory.notifications = interceptor.wrap(inMemory.notifications, NOTICE_CALLS)
    const store = interceptor.wrap<Store>(inMemory, STORE_CALLS)
    const runtime = interceptor.wrap<Runtime>(new InMemoryRuntime(this.machine), WORK_CALLS)
    const clock = interceptor.wrapClock?.(this.clock) ?? this.clock
    const counter = new TroubleCounter(this.clock, troubleRecords(this.disk))
    counter.load([...this.disk.sessions.keys()].map(testSessionId))
    const onTrouble = (subject: string, cause: unknown, doing?: string): void => {
      if (cause instanceof InjectedCrash) return
      this.troubles.push(cause)
      if (doing !== undefined) counter.addFailure(testSessionId(subject), doing, cause)
    }
    const agents = scriptedAgents(this.machine.records)
    const notifier = interceptor.wrap<Notifier>(inMemoryNotifier(this.notificationLog), ['deliver'])
    const hooks = interceptor.wrap<HookRunner>(inMemoryHookRunner(this.notificationLog), ['run'])
    const tracker = interceptor.wrap<Tracker>(inMemoryTracker(this.beads), TRACKER_CALLS)
    const workInspector = interceptor.wrap<WorkInspector>(
      inMemoryWorkInspector(() => this.shown),
      ['inspect'],
    )
    const say = (sentence: string): void => void this.logLines.push(sentence)
    const rules = DEFAULT_TIMINGS
    const checkpoints = interceptor.wrap<Checkpoints>(new InMemoryCheckpoints(this.machine), ['save', 'prune', 'push'])
    const engine = new Engine({
      store,
      runtime,
      clock,
      agents,
      notifier,
      hooks,
      checkpoints,
      tracker,
      workInspector,
      timings: rules,
      log: say,
      onTrouble,
      onSuccess: id => counter.clear(id),
    })
    return { engine, store }
  }

  session(id: string): Session | undefined {
    const text = this.disk.sessions.get(id)
    return text === undefined ? undefined : (JSON.parse(text) as Session)
  }

  events(id: string): Event[] {
    return this.disk.events.filter(item => item.sessionId === id).map(item => JSON.parse(item.body) as Event)
  }

  transcript(id: string): string {
    return Buffer.from(this.machine.sessions.get(id)?.transcript ?? []).toString()
  }

  /** Advances time, timer by timer, until the condition holds. Fails if no timer is left. */
  async until(isSo: () => boolean): Promise<void> {
    await flushPromises()
    for (let turn = 0; !isSo(); turn++) {
      if (turn > 10_000 || !(await this.clock.runNextTimer())) throw new Error(`it never came to: ${isSo.toString()}`)
    }
  }

  hasEnded(id: string): boolean {
    const hasWork = this.disk.outbox.some(item => item.sessionId === id)
    return this.session(id)?.phase.name === 'ended' && !hasWork && !this.hasOutgoing()
  }

  /** Returns true while a notice or a hook is pending. */
  hasOutgoing(): boolean {
    const { notices, deliveries, hooks } = this.disk
    return hooks.length > 0 || notices.some(row => !row.isAddressed) || deliveries.some(row => row.state === 'pending')
  }
}

/** The fields of a spec that a test sets. */
export interface SpecOverrides extends Partial<Omit<Spec, 'supervision' | 'id' | 'parent' | 'startedBy'>> {
  readonly id?: string
  readonly parent?: { readonly id: string; readonly key: string }
  readonly startedBy?: string
  readonly supervision?: Partial<Supervision>
}

/** Returns a spec with defaults for all fields that a test does not set. */
export function makeSpec(overrides: SpecOverrides & Pick<Spec, 'agent'>): Spec {
  const { id = 's1', parent, startedBy, ...others } = overrides
  const kind = scriptedAgents()(overrides.agent)
  return {
    id: testSessionId(id),
    name: `${overrides.agent}-task`,
    task: 'task',
    mode: kind.defaultMode,
    proof: kind.proof,
    cwd: '/',
    argv: [overrides.agent],
    title: 'a task',
    autonomy: 'full',
    model: null,
    effort: null,
    createdAt: Date.UTC(2026, 0, 1),
    ...(parent !== undefined && { parent: { ...parent, id: testSessionId(parent.id) } }),
    ...(startedBy !== undefined && { startedBy: testSessionId(startedBy) }),
    ...others,
    supervision: {
      limits: NO_LIMITS,
      maxTime: null,
      restart: { on: 'crash', limit: 3, window: 600_000, firstDelay: 100, nextDelay: 2_000, maxDelay: 64_000 },
      patience: { silence: null, limit: null, absence: null },
      memory: null,
      saving: DEFAULT_CHECKPOINT_OPTIONS,
      alertAfter: 3,
      beads: true,
      ...overrides.supervision,
    },
  }
}

/** Runs an action right before or after each call of that name, until the action returns false. */
export function interceptCall(call: string, when: 'before' | 'after', action: () => boolean): CallInterceptor {
  let isOver = false
  const runAction = (): void => {
    if (!isOver) isOver = !action()
  }
  return {
    wrap: <Port extends object>(port: Port): Port =>
      new Proxy(port, {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name, target)
          if (typeof value !== 'function') return value
          if (name !== call) return value.bind(target)
          return (...args: unknown[]) => {
            if (when === 'before') runAction()
            const result: unknown = value.apply(target, args)
            if (when === 'after') runAction()
            return result
          }
        },
      }),
  }
}
