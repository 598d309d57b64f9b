import type { WorkerExit } from '../../src/core/loop/signals.ts'
import { NO_USAGE } from '../../src/core/session/usage.ts'
import { invariant, Refusal } from '../../src/lib/errors.ts'
import type { Duration } from '../../src/lib/time.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { Worker, WorkerRequest, WorkerState, Workers } from '../../src/ports/workers.ts'
import { testSessionId } from '../core/ids.ts'

/** One step of a scripted worker. A worker that has performed all its steps ends well. */
export type WorkerStep =
  | { readonly wait: Duration }
  | { readonly act: () => void }
  /** The worker rests for this long because of a usage limit. */
  | { readonly limited: Duration }
  | { readonly block: { readonly problem: string; readonly reason: string } }
  | { readonly fail: string }

/** Returns the steps of a worker, each time that it starts. */
export type WorkerScript = (request: WorkerRequest) => readonly WorkerStep[]

interface SimulatedWorker extends Worker {
  readonly key: string
  readonly request: WorkerRequest
  state: WorkerState
  exit: WorkerExit | null
  steps: readonly WorkerStep[]
  /** Increases with each start, so that a timer of an earlier start has no effect. */
  life: number
  readonly listeners: Set<() => void>
}

/** The worker sessions of one loop. They outlive the loop's program. */
export class InMemoryWorkers implements Workers {
  /** The keys of all workers that ever started, in order. */
  readonly starts: string[] = []
  /** Names that other sessions have. */
  readonly takenNames = new Set<string>()
  isStopping = false
  readonly #clock: Clock
  readonly #script: WorkerScript
  readonly #workers = new Map<string, SimulatedWorker>()

  constructor(clock: Clock, script: WorkerScript) {
    this.#clock = clock
    this.#script = script
  }

  async ensureRunning(key: string, request: WorkerRequest): Promise<Worker> {
    const known = [...this.#workers.values()].find(worker => worker.key === key)
    if (known === undefined) return this.#create(key, request)
    if (known.exit?.outcome === 'stopped') this.#start(known)
    return { id: known.id, name: known.name }
  }

  async resume(id: string): Promise<void> {
    const worker = this.#find(id)
    if (worker.state.phase === 'blocked') this.#start(worker)
  }

  async *watch(id: string, ending: AbortSignal): AsyncGenerator<WorkerState> {
    for (let shown: WorkerState | null = null; !ending.aborted; ) {
      const worker = this.#workers.get(id)
      if (worker === undefined) return
      const { state } = worker
      if (state !== shown) yield state
      shown = state
      if (state.phase === 'ended') return
      if (worker.state === state) await nextChange(worker, ending)
    }
  }

  readExit(id: string): WorkerExit {
    const gone = {
      outcome: 'failed',
      reason: 'its session was removed',
      trouble: null,
      finalOutput: '',
      spent: NO_USAGE,
    } as const
    return this.#workers.get(id)?.exit ?? gone
  }

  isLoopStopping(): boolean {
    return this.isStopping
  }

  async stopAll(): Promise<void> {
    for (const worker of this.#workers.values())
      if (worker.exit === null) this.#end(worker, { outcome: 'stopped', reason: 'stopped by the user' })
  }

  /** Removes the record of a worker, as `oneshot clean` does. */
  remove(id: string): void {
    const worker = this.#find(id)
    worker.life++
    this.#workers.delete(id)
    for (const listener of worker.listeners) listener()
  }

  #create(key: string, request: WorkerRequest): Worker {
    if (this.isStopping) throw new Refusal('parent-stopping', 'the loop is stopping')
    const isTaken = [...this.#workers.values()].some(({ name }) => name === request.name)
    if (isTaken || this.takenNames.has(request.name)) throw new Refusal('name-taken', `${request.name} exists`)
    const state: WorkerState = { phase: 'starting', reason: null, problem: null }
    const id = testSessionId(`w${this.#workers.size + 1}`)
    const common = { state, exit: null, steps: [], life: 0, listeners: new Set<() => void>() }
    const worker: SimulatedWorker = { id, name: request.name, key, request, ...common }
    this.#workers.set(id, worker)
    this.#start(worker)
    return { id, name: worker.name }
  }

  #start(worker: SimulatedWorker): void {
    this.starts.push(worker.key)
    worker.exit = null
    worker.life++
    worker.steps = this.#script(worker.request)
    this.#change(worker, { phase: 'running', reason: null, problem: null })
    this.#perform(worker, worker.life)
  }

  #perform(worker: SimulatedWorker, life: number): void {
    for (;;) {
      if (worker.life !== life) return
      const [step, ...rest] = worker.steps
      worker.steps = rest
      if (step === undefined) return this.#end(worker, { outcome: 'done', reason: 'done' })
      if ('act' in step) step.act()
      else if ('fail' in step) return this.#end(worker, { outcome: 'failed', reason: step.fail })
      else if ('block' in step) return this.#change(worker, { phase: 'blocked', ...step.block })
      else return this.#pause(worker, step, life)
    }
  }

  #pause(worker: SimulatedWorker, step: { wait: Duration } | { limited: Duration }, life: number): void {
    if ('limited' in step) this.#change(worker, { phase: 'resting', reason: 'usage limit', problem: 'rate-limit' })
    const duration = 'limited' in step ? step.limited : step.wait
    this.#clock.schedule(this.#clock.now() + duration, () => {
      if (worker.life !== life) return
      this.#change(worker, { phase: 'running', reason: null, problem: null })
      this.#perform(worker, life)
    })
  }

  #end(worker: SimulatedWorker, { outcome, reason }: Pick<WorkerExit, 'outcome' | 'reason'>): void {
    worker.life++
    worker.exit = {
      outcome,
      reason,
      trouble: outcome === 'failed' ? 'other' : null,
      finalOutput: 'I did it',
      spent: NO_USAGE,
    }
    this.#change(worker, { phase: 'ended', reason, problem: null })
  }

  #change(worker: SimulatedWorker, state: WorkerState): void {
    worker.state = state
    for (const listener of worker.listeners) listener()
  }

  #find(id: string): SimulatedWorker {
    const worker = this.#workers.get(id)
    invariant(worker !== undefined, `there is no worker ${id}`)
    return worker
  }
}

function nextChange(worker: SimulatedWorker, ending: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const finish = (): void => {
      worker.listeners.delete(finish)
      ending.removeEventListener('abort', finish)
      resolve()
    }
    worker.listeners.add(finish)
    ending.addEventListener('abort', finish, { once: true })
  })
}
