import type { Exit } from '../../src/core/session/session.ts'
import type { Duration, Instant } from '../../src/lib/time.ts'
import type { VirtualClock } from './virtual-clock.ts'

/** One thing a scripted program does. After the last one it exits with 0. */
export type ProcessStep =
  | { readonly say: string | Uint8Array }
  | { readonly wait: Duration }
  /** Computes for so long, without a word. */
  | { readonly compute: Duration }
  | { readonly exit: number }
  | { readonly die: string }
  /** Writes down what it was given to read, in the record of this thread. */
  | { readonly record: string }
  /** Takes the last of what it wrote down there back. */
  | { readonly forget: string }
  /** Changes the files of the repository to this. */
  | { readonly edit: string }
  /** Holds so many bytes of memory from now on. */
  | { readonly hold: number }
  /** Leaves a process behind; one that hides is not found by a sweep. */
  | { readonly litter: string; readonly hides?: boolean }

export interface ScriptedProgram {
  /** What it does in its `start`-th process of this session, counted from 1. */
  readonly run: (call: { argv: readonly string[]; stdin: string; start: number }) => readonly ProcessStep[]
  /** Signals it survives. SIGKILL is never among them. */
  readonly ignoredSignals?: readonly string[]
  /** What it does instead of dying of a SIGINT. */
  readonly onInterrupt?: readonly ProcessStep[]
}

/** What a process does to the machine around it. */
export interface ProcessHost {
  readonly clock: VirtualClock
  readonly write: (bytes: Uint8Array) => void
  readonly litter: (name: string, hides: boolean) => void
  readonly record: (thread: string) => void
  readonly forget: (thread: string) => void
  readonly edit: (tree: string) => void
  readonly exited: (exit: Exit) => void
}

/** A process that lives through a script, deed by deed, in virtual time. */
export class ScriptedProcess {
  isAlive = true
  memory = 0
  /** Processor time used so far, and since when it is computing. */
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

  /** Does what is next, until it must wait or has ended. */
  advance(): void {
    const [deed, ...rest] = this.#steps
    this.#steps = rest
    if (!this.isAlive) return
    if (deed === undefined) return this.#end({ kind: 'code', code: 0 })
    if ('exit' in deed) return this.#end({ kind: 'code', code: deed.exit })
    if ('die' in deed) return this.#end({ kind: 'signal', signal: deed.die })
    if ('wait' in deed) return this.#wait(deed.wait)
    if ('compute' in deed) return this.#compute(deed.compute)
    if ('say' in deed) this.#host.write(typeof deed.say === 'string' ? Buffer.from(deed.say) : deed.say)
    else if ('hold' in deed) this.memory = deed.hold
    else if ('record' in deed) this.#host.record(deed.record)
    else if ('edit' in deed) this.#host.edit(deed.edit)
    else if ('forget' in deed) this.#host.forget(deed.forget)
    else this.#host.litter(deed.litter, deed.hides ?? false)
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
