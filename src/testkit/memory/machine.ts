import type { Exit, Life } from '../../core/session.ts'
import type { Instant } from '../../lib/time.ts'
import { Trouble } from '../../lib/trouble.ts'
import type { AttemptRef, LaunchOrder, StoredRequest } from '../../ports/work.ts'
import type { MemoryRepository } from './memory-checkpoints.ts'
import type { Records } from './scripted-agents.ts'
import { type Program, ScriptedProcess } from './scripted-process.ts'
import type { VirtualClock } from './virtual-clock.ts'

/** From the opened pane to the shim's claim, in milliseconds. */
const SHIM_DELAY = 3

export interface SessionFiles {
  readonly messages: Map<number, Uint8Array>
  env: Readonly<Record<string, string>>
  transcript: Uint8Array
  readonly times: { readonly at: Instant; readonly size: number }[]
}

/** What the machine knows of one attempt. */
export interface MachineAttempt {
  openedAt: Instant | null
  claim: 'shim' | 'nobody' | null
  isShimAlive: boolean
  refusal: string | null
  thread: string | null
  stdin: Uint8Array | null
  isInterrupted: boolean
  /** Where a supervisor was killed over its output. */
  stuckAt?: number
  /** The request of a command that found no supervisor. */
  request: StoredRequest | null
  life: Life | null
  exit: Exit | null
  output: Uint8Array
  writtenAt: Instant | null
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
  /** What the agents here remember of their threads. */
  readonly records: Records = new Map()
  readonly ears = new Set<{ news: (sessionId: string) => void; output: (attempt: string, sessionId: string) => void }>()
  /** Every process that was ever started, as session.attempt. */
  readonly starts: string[] = []
  /** Whether it can be told at once that nothing of an attempt is left, as control groups do. */
  hasGroups = true
  /** Panes that are opened from now on never come to life. */
  hasDeadPanes = false
  /** Opening a pane fails for this reason, while there is one. */
  paneTrouble: string | null = null
  boot = 'this boot'
  /** Bytes that attempts may write. */
  disk = 1024 ** 4
  /** The repository that all sessions here work in, if there is one. */
  repository: MemoryRepository | null = null
  /** Folders that are gone. */
  readonly lostFolders = new Set<string>()

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
      refusal: null,
      thread: null,
      stdin: null,
      isInterrupted: false,
      request: null,
      life: null,
      exit: null,
      output: new Uint8Array(),
      writtenAt: null,
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
    const attempt = this.attempt(order)
    attempt.openedAt = this.clock.now()
    attempt.thread = order.thread
    attempt.stdin = order.stdin ?? null
    if (!this.hasDeadPanes) this.clock.ring(this.clock.now() + SHIM_DELAY, () => this.#shim(order))
  }

  /** The power fails, and comes back: nothing lives any more, and what was on disk is there. */
  reboot(): void {
    this.boot = `${this.boot}, later`
    this.ears.clear()
    this.panes.clear()
    for (const attempt of this.attempts.values()) {
      attempt.isShimAlive = false
      attempt.litter.clear()
      attempt.process?.signal('SIGKILL')
    }
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
    attempt.refusal = this.#refusal(order)
    if (attempt.refusal !== null) {
      this.ring(order, 'exit')
    } else {
      this.#start(order, attempt)
    }
  }

  /** What still lives of another attempt holds the locks of its session and of its thread. */
  #refusal({ sessionId, attempt, thread }: LaunchOrder): string | null {
    if (this.alive().some(name => name.startsWith(`${sessionId}.`)))
      return 'something of the attempt before is still alive'
    const holder = [...this.attempts].find(
      ([key, other]) =>
        key !== keyOf({ sessionId, attempt }) && thread !== null && other.thread === thread && isAlive(other),
    )
    return holder === undefined ? null : 'another session uses its thread now'
  }

  #start(order: LaunchOrder, attempt: MachineAttempt): void {
    const pid = 1_000 + this.starts.push(keyOf(order))
    attempt.life = { pid, birth: `birth of ${pid}`, boot: this.boot, startedAt: this.clock.now() }
    this.ring(order, 'started')
    const program = this.programs[order.argv[0] ?? '']
    if (program === undefined) return this.#exited(order, attempt, { kind: 'code', code: 127 })
    const start = this.starts.filter(key => key.startsWith(`${order.sessionId}.`)).length
    const deeds = program.run({ argv: order.argv, stdin: textOf(attempt.stdin), start })
    attempt.process = new ScriptedProcess(program, deeds, {
      clock: this.clock,
      write: bytes => this.#written(order, attempt, bytes),
      litter: (name, hides) => attempt.litter.set(name, { hides }),
      edit: tree => {
        if (this.repository !== null) this.repository.tree = tree
      },
      forget: thread => this.records.set(thread, (this.records.get(thread) ?? []).slice(0, -1)),
      record: thread => this.records.set(thread, [...(this.records.get(thread) ?? []), textOf(attempt.stdin)]),
      exited: exit => this.#exited(order, attempt, exit),
    })
    attempt.process.go()
  }

  #written(order: LaunchOrder, attempt: MachineAttempt, bytes: Uint8Array): void {
    attempt.output = Buffer.concat([attempt.output, bytes])
    attempt.writtenAt = this.clock.now()
    queueMicrotask(() => {
      for (const ear of this.ears) ear.output(keyOf(order), order.sessionId)
    })
  }

  #exited(order: LaunchOrder, attempt: MachineAttempt, exit: Exit): void {
    if (!attempt.isShimAlive) return
    attempt.exit = exit
    this.ring(order, 'exit')
  }

  /** A letter is found only if it still lies there when somebody walks to the mailbox. */
  ring(order: Pick<AttemptRef, 'sessionId' | 'attempt'>, kind: 'started' | 'exit'): void {
    const letter = `${keyOf(order)}.${kind}`
    this.letters.add(letter)
    queueMicrotask(() => {
      if (this.letters.has(letter)) for (const ear of this.ears) ear.news(order.sessionId)
    })
  }
}

function isAlive({ process, litter }: MachineAttempt): boolean {
  return process?.isAlive === true || litter.size > 0
}

function textOf(bytes: Uint8Array | null): string {
  return Buffer.from(bytes ?? []).toString()
}

export function keyOf({ sessionId, attempt }: Pick<AttemptRef, 'sessionId' | 'attempt'>): string {
  return `${sessionId}.${attempt}`
}
