import { DEFAULT_RULES } from '../../core/rules.ts'
import type { Event } from '../../core/events.ts'
import type { Shown } from '../../core/prove.ts'
import type { Session, Spec } from '../../core/session.ts'
import { NO_LIMITS } from '../../core/spending.ts'
import { DEFAULT_SAVING } from '../../core/checkpoint.ts'
import { Engine } from '../../engine/engine.ts'
import type { Checkpoints } from '../../ports/checkpoints.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Hooks, Notifier } from '../../ports/notifier.ts'
import type { Store } from '../../ports/store.ts'
import type { Tracker } from '../../ports/tracker.ts'
import type { Witness } from '../../ports/witness.ts'
import type { Work } from '../../ports/work.ts'
import { Machine } from './machine.ts'
import { Audience, memoryHooks, memoryNotifier } from './memory-notifier.ts'
import { Disk } from './disk.ts'
import { MemoryCheckpoints } from './memory-checkpoints.ts'
import { MemoryStore } from './memory-store.ts'
import { MemoryBeads, memoryTracker } from './memory-tracker.ts'
import { memoryWitness, NOTHING_DONE } from './memory-witness.ts'
import { MemoryWork } from './memory-work.ts'
import { Crash, Power } from './power.ts'
import { scriptedAgents } from './scripted-agents.ts'
import type { Program } from './scripted-process.ts'
import { settle, VirtualClock } from './virtual-clock.ts'

/** Every call that changes something outside, or looks at what may change. */
const STORE_CALLS = ['record', 'settle', 'remove'] as const
const NOTICE_CALLS = ['address', 'settleDeliveries', 'postpone', 'settleHook', 'forget'] as const
const WORK_CALLS = [
  'prepare',
  'changeEnvironment',
  'keep',
  'launch',
  'evidence',
  'request',
  'read',
  'write',
  'interrupt',
  'terminate',
  'sweep',
  'close',
  'mend',
  'remove',
  'measure',
  'watch',
  'heard',
] as const

const TRACKER_CALLS = ['version', 'sync', 'ready', 'show', 'close', 'keep'] as const

export interface Supervisor {
  readonly engine: Engine
  readonly store: Store
}

/** What stands between a supervisor and the outside. */
export interface Line {
  feed<Port extends object>(port: Port, calls: readonly (keyof Port & string)[]): Port
  feedClock?(clock: Clock): Clock
}

/** A whole small world: a clock, a disk, a machine, and one supervisor after the other. */
export class Stage {
  readonly clock = new VirtualClock()
  readonly disk = new Disk()
  readonly machine: Machine
  readonly audience = new Audience()
  /** The project's task tracker, if it has one. */
  readonly beads = new MemoryBeads()
  /** What whoever looks at the work sees. */
  shown: Shown = NOTHING_DONE
  /** What the supervisors noted in their log. */
  readonly said: string[] = []
  /** What went wrong while performing, apart from failed power. */
  readonly troubles: unknown[] = []

  constructor(programs: Readonly<Record<string, Program>>) {
    this.machine = new Machine(this.clock, programs)
  }

  /** A supervisor on this disk and machine. It acts once its engine is started. */
  supervisor(line: Line = new Power()): Supervisor {
    const memory = new MemoryStore(this.disk)
    memory.notices = line.feed(memory.notices, NOTICE_CALLS)
    const store = line.feed<Store>(memory, STORE_CALLS)
    const work = line.feed<Work>(new MemoryWork(this.machine), WORK_CALLS)
    const clock = line.feedClock?.(this.clock) ?? this.clock
    const onTrouble = (_: string, cause: unknown): void => {
      if (!(cause instanceof Crash)) this.troubles.push(cause)
    }
    const agents = scriptedAgents(this.machine.records)
    const notifier = line.feed<Notifier>(memoryNotifier(this.audience), ['deliver'])
    const hooks = line.feed<Hooks>(memoryHooks(this.audience), ['run'])
    const tracker = line.feed<Tracker>(memoryTracker(this.beads), TRACKER_CALLS)
    const witness = line.feed<Witness>(
      memoryWitness(() => this.shown),
      ['see'],
    )
    const say = (sentence: string): void => void this.said.push(sentence)
    const rules = DEFAULT_RULES
    const checkpoints = line.feed<Checkpoints>(new MemoryCheckpoints(this.machine), ['save', 'thin', 'push'])
    const engine = new Engine({
      store,
      work,
      clock,
      agents,
      notifier,
      hooks,
      checkpoints,
      tracker,
      witness,
      rules,
      say,
      onTrouble,
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

  /** Lets time pass, alarm by alarm, until this is so. Fails when nothing is left that could bring it about. */
  async until(isSo: () => boolean): Promise<void> {
    await settle()
    for (let turn = 0; !isSo(); turn++) {
      if (turn > 10_000 || !(await this.clock.next())) throw new Error(`it never came to: ${isSo.toString()}`)
    }
  }

  hasEnded(id: string): boolean {
    const hasWork = this.disk.outbox.some(item => item.sessionId === id)
    return this.session(id)?.phase.name === 'ended' && !hasWork && !this.hasTidings()
  }

  /** Somebody has still to be told of something, or a hook to be run. */
  hasTidings(): boolean {
    const { notices, deliveries, hooks } = this.disk
    return hooks.length > 0 || notices.some(row => !row.isAddressed) || deliveries.some(row => row.state === 'pending')
  }
}

/** What was asked for, with everything filled in that a test does not care about. */
export function specOf(wishes: Partial<Spec> & Pick<Spec, 'agent'>): Spec {
  const kind = scriptedAgents()(wishes.agent)
  return {
    id: 's1',
    name: `${wishes.agent}-task`,
    task: 'task',
    mode: kind.defaultMode,
    proof: kind.proof,
    cwd: '/',
    argv: [wishes.agent],
    title: 'a task',
    autonomy: 'full',
    model: null,
    effort: null,
    limits: NO_LIMITS,
    maxTime: null,
    restart: { on: 'crash', limit: 3, window: 600_000, firstDelay: 100, nextDelay: 2_000, maxDelay: 64_000 },
    patience: { silence: null, limit: null, absence: null },
    memory: null,
    saving: DEFAULT_SAVING,
    alertAfter: 3,
    beads: true,
    createdAt: Date.UTC(2026, 0, 1),
    ...wishes,
  }
}
