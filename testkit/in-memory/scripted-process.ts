import type { Exit } from '../../src/core/session/attempt.ts'
import type { Duration, Instant } from '../../src/lib/time.ts'
import type { VirtualClock } from './virtual-clock.ts'

/** One step of a scripted program. After the last step it exits with 0. */
export type ProcessStep =
  | { readonly say: string | Uint8Array }
  | { readonly wait: Duration }
  /** Computes for this long, without output. */
  | { readonly compute: Duration }
  | { readonly exit: number }
  | { readonly die: string }
  /** Appends its stdin to the record of this thread. */
  | { readonly record: string }
  /** Removes the last entry of that record. */
  | { readonly forget: string }
  /** Changes the files of the repository to this. */
  | { readonly edit: string }
  /** Holds this many bytes of memory from now on. */
  | { readonly hold: number }
  /** Leaves a process behind; a sweep does not find one that hides. */
  | { readonly litter: string; readonly hides?: boolean }

export interface ScriptedProgram {
  /** Returns the steps of the session's `start`-th process, counted from 1. */
  readonly run: (call: { argv: readonly string[]; stdin: string; start: number }) => readonly ProcessStep[]
  /** Signals it survives, never SIGKILL. */
  readonly ignoredSignals?: readonly string[]
  /** Steps after a SIGINT, instead of an exit. */
  readonly onInterrupt?: readonly ProcessStep[]
}

/** The machine's functions that a process uses. */
export interface ProcessHost {
  readonly clock: VirtualClock
  readonly write: (bytes: Uint8Array) => void
  readonly litter: (name: string, hides: boolean) => void
  readonly record: (thread: string) => void
  readonly forget: (thread: string) => void
  readonly edit: (tree: string) => void
  readonly exited: (exit: Exit) => void
}

/** A process that runs the steps of a script in virtual time. */
export class ScriptedProcess {
  isAlive = true
  memory = 0
  /** Processor time used so far, and the start of the current computation. */
  #used: Duration = 0
  #computing: Instant | null = null
  readonly #program: ScriptedProgram
  readonly #host: ProcessHost
  #steps: readonly ProcessStep[]
  #cancelWait: () => void = () => undefined

  constructor(program: ScriptedProgram, steps: readonly ProcessStep[], host: ProcessHost) {
    this.#program = program
    this.#steps = steps
    this.#host = host
  }

  /** Runs the next steps until the process must wait or has ended. */
  advance(): void {
    const [step, ...rest] = this.#steps
    this.#steps = rest
    if (!this.isAlive) return
    if (step === undefined) return this.#end({ kind: 'code', code: 0 })
    if ('exit' in step) return this.#end({ kind: 'code', code: step.exit })
    if ('die' in step) return this.#end({ kind: 'signal', signal: step.die })
    if ('wait' in step) return this.#wait(step.wait)
    if ('compute' in step) return this.#compute(step.compute)
    if ('say' in step) this.#host.write(typeof step.say === 'string' ? Buffer.from(step.say) : step.say)
    else if ('hold' in step) this.memory = step.hold
    else if ('record' in step) this.#host.record(step.record)
    else if ('edit' in step) this.#host.edit(step.edit)
    else if ('forget' in step) this.#host.forget(step.forget)
    else this.#host.litter(step.litter, step.hides ?? false)
    this.advance()
  }

  get cpu(): Duration {
    return this.#used + (this.#computing === null ? 0 : this.#host.clock.now() - this.#computing)
  }

  signal(name: string): void {
    if (!this.isAlive || (name !== 'SIGKILL' && this.#program.ignoredSignals?.includes(name))) return
    this.#cancelWait()
    if (name !== 'SIGINT' || this.#program.onInterrupt === undefined) return this.#end({ kind: 'signal', signal: name })
    this.#steps = this.#program.onInterrupt
    this.advance()
  }

  #wait(duration: Duration): void {
    if (Number.isFinite(duration)) {
      this.#cancelWait = this.#host.clock.schedule(this.#host.clock.now() + duration, () => this.advance())
    }
  }

  #compute(duration: Duration): void {
    const { clock } = this.#host
    this.#computing = clock.now()
    this.#cancelWait = clock.schedule(clock.now() + duration, () => {
      this.#used = this.cpu
      this.#computing = null
      this.advance()
    })
  }

  #end(exit: Exit): void {
    this.isAlive = false
    this.#cancelWait()
    this.#host.exited(exit)
  }
}
