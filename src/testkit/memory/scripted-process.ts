import type { Exit } from '../../core/session.ts'
import type { Duration, Instant } from '../../lib/time.ts'
import type { VirtualClock } from './virtual-clock.ts'

/** One thing a scripted program does. After the last one it exits with 0. */
export type Deed =
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

export interface Program {
  /** What it does in its `start`-th process of this session, counted from 1. */
  readonly run: (call: { argv: readonly string[]; stdin: string; start: number }) => readonly Deed[]
  /** Signals it survives. SIGKILL is never among them. */
  readonly deafTo?: readonly string[]
  /** What it does instead of dying of a SIGINT. */
  readonly onInterrupt?: readonly Deed[]
}

/** What a process does to the machine around it. */
export interface Surroundings {
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
  readonly #program: Program
  readonly #around: Surroundings
  #deeds: readonly Deed[]
  #cancelWait: () => void = () => undefined

  constructor(program: Program, deeds: readonly Deed[], around: Surroundings) {
    this.#program = program
    this.#deeds = deeds
    this.#around = around
  }

  /** Does what is next, until it must wait or has ended. */
  go(): void {
    const [deed, ...rest] = this.#deeds
    this.#deeds = rest
    if (!this.isAlive) return
    if (deed === undefined) return this.#end({ kind: 'code', code: 0 })
    if ('exit' in deed) return this.#end({ kind: 'code', code: deed.exit })
    if ('die' in deed) return this.#end({ kind: 'signal', signal: deed.die })
    if ('wait' in deed) return this.#wait(deed.wait)
    if ('compute' in deed) return this.#compute(deed.compute)
    if ('say' in deed) this.#around.write(typeof deed.say === 'string' ? Buffer.from(deed.say) : deed.say)
    else if ('hold' in deed) this.memory = deed.hold
    else if ('record' in deed) this.#around.record(deed.record)
    else if ('edit' in deed) this.#around.edit(deed.edit)
    else if ('forget' in deed) this.#around.forget(deed.forget)
    else this.#around.litter(deed.litter, deed.hides ?? false)
    this.go()
  }

  get cpu(): Duration {
    return this.#used + (this.#computing === null ? 0 : this.#around.clock.now() - this.#computing)
  }

  signal(name: string): void {
    if (!this.isAlive || (name !== 'SIGKILL' && this.#program.deafTo?.includes(name))) return
    this.#cancelWait()
    if (name !== 'SIGINT' || this.#program.onInterrupt === undefined) return this.#end({ kind: 'signal', signal: name })
    this.#deeds = this.#program.onInterrupt
    this.go()
  }

  #wait(duration: Duration): void {
    if (Number.isFinite(duration)) {
      this.#cancelWait = this.#around.clock.ring(this.#around.clock.now() + duration, () => this.go())
    }
  }

  #compute(duration: Duration): void {
    const { clock } = this.#around
    this.#computing = clock.now()
    this.#cancelWait = clock.ring(clock.now() + duration, () => {
      this.#used = this.cpu
      this.#computing = null
      this.go()
    })
  }

  #end(exit: Exit): void {
    this.isAlive = false
    this.#cancelWait()
    this.#around.exited(exit)
  }
}
