import type { Exit, Life } from '../../core/session.ts'
import type { Instant } from '../../lib/time.ts'
import { Trouble } from '../../lib/trouble.ts'
import type { AttemptRef, LaunchOrder } from '../../ports/work.ts'
import { type Program, ScriptedProcess } from './scripted-process.ts'
import type { VirtualClock } from './virtual-clock.ts'

/** From the opened pane to the shim's claim, in milliseconds. */
const SHIM_DELAY = 3

export interface SessionFiles {
  readonly prompt: Uint8Array | null
  transcript: Uint8Array
  readonly times: { readonly at: Instant; readonly size: number }[]
}

/** What the machine knows of one attempt. */
export interface MachineAttempt {
  openedAt: Instant | null
  claim: 'shim' | 'nobody' | null
  isShimAlive: boolean
  isRefused: boolean
  isInterrupted: boolean
  life: Life | null
  exit: Exit | null
  output: Uint8Array
  process: ScriptedProcess | null
  /** Processes left behind; those that hide are found by nobody and hold the session's lock. */
  readonly litter: Map<string, { hides: boolean }>
}

/** The machine on which attempts live: it goes on whatever happens to the supervisors that look at it. */
export class Machine {
  readonly clock: VirtualClock
  readonly programs: Readonly<Record<string, Program>>
  readonly sessions = new Map<string, SessionFiles>()
  readonly attempts = new Map<string, MachineAttempt>()
  readonly letters = new Set<string>()
  readonly panes = new Set<string>()
  readonly ears = new Set<{ news: (sessionId: string) => void; output: (attempt: string, sessionId: string) => void }>()
  /** Every process that was ever started, as session.attempt. */
  readonly starts: string[] = []
  /** Panes that are opened from now on never come to life. */
  hasDeadPanes = false
  /** Opening a pane fails for this reason, while there is one. */
  paneTrouble: string | null = null

  constructor(clock: VirtualClock, programs: Readonly<Record<string, Program>>) {
    this.clock = clock
    this.programs = programs
  }

  attempt(ref: Pick<AttemptRef, 'sessionId' | 'attempt'>): MachineAttempt {
    const found = this.attempts.get(keyOf(ref))
    if (found !== undefined) return found
    const fresh: MachineAttempt = {
      openedAt: null,
      claim: null,
      isShimAlive: false,
      isRefused: false,
      isInterrupted: false,
      life: null,
      exit: null,
      output: new Uint8Array(),
      process: null,
      litter: new Map(),
    }
    this.attempts.set(keyOf(ref), fresh)
    return fresh
  }

  /** Opens a pane with a shim in it, which claims the attempt a moment later. */
  openPane(order: LaunchOrder): void {
    if (this.paneTrouble !== null) throw new Trouble('opening a pane', this.paneTrouble)
    this.panes.add(order.name)
    this.attempt(order).openedAt = this.clock.now()
    if (!this.hasDeadPanes) this.clock.ring(this.clock.now() + SHIM_DELAY, () => this.#shim(order))
  }

  /** Everything that is alive, as people would see it in a process table. */
  alive(): string[] {
    return [...this.attempts].flatMap(([key, { process, litter }]) => [
      ...(process?.isAlive ? [key] : []),
      ...[...litter.keys()].map(name => `${key} ${name}`),
    ])
  }

  #shim(order: LaunchOrder): void {
    const attempt = this.attempt(order)
    if (attempt.claim !== null) return
    attempt.claim = 'shim'
    attempt.isShimAlive = true
    if (this.#isHeld(order)) {
      attempt.isRefused = true
      this.#ring(order, 'exit')
    } else {
      this.#start(order, attempt)
    }
  }

  /** Whether something of another attempt of this session still lives, which then holds the session's lock. */
  #isHeld({ sessionId }: LaunchOrder): boolean {
    return this.alive().some(name => name.startsWith(`${sessionId}.`))
  }

  #start(order: LaunchOrder, attempt: MachineAttempt): void {
    const pid = 1_000 + this.starts.push(keyOf(order))
    attempt.life = { pid, birth: `birth of ${pid}`, boot: 'this boot', startedAt: this.clock.now() }
    this.#ring(order, 'started')
    const program = this.programs[order.argv[0] ?? '']
    if (program === undefined) return this.#exited(order, attempt, { kind: 'code', code: 127 })
    const start = this.starts.filter(key => key.startsWith(`${order.sessionId}.`)).length
    const deeds = program.run({ argv: order.argv, stdin: this.#stdin(order), start })
    attempt.process = new ScriptedProcess(program, deeds, {
      clock: this.clock,
      write: bytes => this.#written(order, attempt, bytes),
      litter: (name, hides) => attempt.litter.set(name, { hides }),
      exited: exit => this.#exited(order, attempt, exit),
    })
    attempt.process.go()
  }

  #stdin({ stdin, sessionId }: LaunchOrder): string {
    const bytes = stdin === 'prompt' ? this.sessions.get(sessionId)?.prompt : stdin
    return Buffer.from(bytes ?? []).toString()
  }

  #written(order: LaunchOrder, attempt: MachineAttempt, bytes: Uint8Array): void {
    attempt.output = Buffer.concat([attempt.output, bytes])
    queueMicrotask(() => {
      for (const ear of this.ears) ear.output(keyOf(order), order.sessionId)
    })
  }

  #exited(order: LaunchOrder, attempt: MachineAttempt, exit: Exit): void {
    if (!attempt.isShimAlive) return
    attempt.exit = exit
    this.#ring(order, 'exit')
  }

  /** A letter is found only if it still lies there when somebody walks to the mailbox. */
  #ring(order: LaunchOrder, kind: 'started' | 'exit'): void {
    const letter = `${keyOf(order)}.${kind}`
    this.letters.add(letter)
    queueMicrotask(() => {
      if (this.letters.has(letter)) for (const ear of this.ears) ear.news(order.sessionId)
    })
  }
}

export function keyOf({ sessionId, attempt }: Pick<AttemptRef, 'sessionId' | 'attempt'>): string {
  return `${sessionId}.${attempt}`
}
