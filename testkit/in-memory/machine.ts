import type { Exit, ProcessIdentity } from '../../src/core/session/attempt.ts'
import type { SessionId } from '../../src/core/session/session-id-and-name.ts'
import type { Instant } from '../../src/lib/time.ts'
import { Trouble } from '../../src/lib/errors.ts'
import type { AttemptRef, LaunchSpec, StoredRequest } from '../../src/ports/runtime.ts'
import type { InMemoryRepository } from './checkpoints.ts'
import type { Records } from './scripted-agents.ts'
import { type ScriptedProgram, ScriptedProcess } from './scripted-process.ts'
import type { VirtualClock } from './virtual-clock.ts'

/** Milliseconds from opening a pane to the shim's claim. */
const SHIM_DELAY = 3

export interface SessionFiles {
  readonly messages: Map<number, Uint8Array>
  env: Readonly<Record<string, string>>
  transcript: Uint8Array
  readonly times: { readonly at: Instant; readonly size: number }[]
}

/** State of one attempt on the machine. */
export interface SimulatedAttempt {
  openedAt: Instant | null
  claim: 'shim' | 'nobody' | null
  isShimAlive: boolean
  refusal: string | null
  thread: string | null
  stdin: Uint8Array | null
  isInterrupted: boolean
  /** Offset in the output at which a supervisor was killed. */
  stuckAt?: number
  /** The request of a command that found no supervisor. */
  request: StoredRequest | null
  life: ProcessIdentity | null
  exit: Exit | null
  output: Uint8Array
  writtenAt: Instant | null
  process: ScriptedProcess | null
  /** Leftover processes; a sweep does not find those that hide, and they hold the session's lock. */
  readonly litter: Map<string, { hides: boolean }>
}

/** The machine on which attempts run. It continues independently of the supervisors. */
export class SimulatedMachine {
  readonly clock: VirtualClock
  readonly programs: Readonly<Record<string, ScriptedProgram>>
  readonly sessions = new Map<string, SessionFiles>()
  readonly attempts = new Map<string, SimulatedAttempt>()
  readonly mailbox = new Set<string>()
  readonly panes = new Set<string>()
  /** The agents' own records of their threads. */
  readonly records: Records = new Map()
  readonly listeners = new Set<{
    news: (sessionId: SessionId) => void
    output: (attempt: string, sessionId: SessionId) => void
  }>()
  /** Every process that ever started, as session.attempt. */
  readonly starts: string[] = []
  /** True if the machine knows at once that an attempt has no processes left, as with control groups. */
  hasGroups = true
  /** If true, panes that open from now on start no shim. */
  hasDeadPanes = false
  /** While set, opening a pane fails for this reason. */
  paneTrouble: string | null = null
  boot = 'this boot'
  /** Bytes that attempts may write. */
  disk = 1024 ** 4
  /** The repository in which all sessions work, if any. */
  repository: InMemoryRepository | null = null
  /** Folders that are gone. */
  readonly lostFolders = new Set<string>()

  constructor(clock: VirtualClock, programs: Readonly<Record<string, ScriptedProgram>>) {
    this.clock = clock
    this.programs = programs
  }

  attempt(ref: Pick<AttemptRef, 'sessionId' | 'attempt'>): SimulatedAttempt {
    const found = this.attempts.get(attemptKey(ref))
    if (found !== undefined) return found
    const fresh: SimulatedAttempt = {
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
    this.attempts.set(attemptKey(ref), fresh)
    return fresh
  }

  /** Opens a pane with a shim, which claims the attempt a moment later. */
  openPane(spec: LaunchSpec): void {
    if (this.paneTrouble !== null) throw new Trouble('opening a pane', this.paneTrouble)
    this.panes.add(spec.name)
    const attempt = this.attempt(spec)
    attempt.openedAt = this.clock.now()
    attempt.thread = spec.thread
    attempt.stdin = spec.stdin ?? null
    if (!this.hasDeadPanes) this.clock.schedule(this.clock.now() + SHIM_DELAY, () => this.#shim(spec))
  }

  /** Simulates a power cut and a reboot: no process survives, the disk does. */
  reboot(): void {
    this.boot = `${this.boot}, later`
    this.listeners.clear()
    this.panes.clear()
    for (const attempt of this.attempts.values()) {
      attempt.isShimAlive = false
      attempt.litter.clear()
      attempt.process?.signal('SIGKILL')
    }
  }

  /** Lists everything that is alive, as a process table does. */
  alive(): string[] {
    return [...this.attempts].flatMap(([key, { process, litter }]) => [
      ...(process?.isAlive ? [key] : []),
      ...[...litter.keys()].map(name => `${key} ${name}`),
    ])
  }

  #shim(spec: LaunchSpec): void {
    const attempt = this.attempt(spec)
    if (attempt.claim !== null) return
    attempt.claim = 'shim'
    attempt.isShimAlive = true
    attempt.refusal = this.#refusalReason(spec)
    if (attempt.refusal !== null) {
      this.notify(spec, 'exit')
    } else {
      this.#start(spec, attempt)
    }
  }

  /**
   * Returns why the shim refuses: living processes of another attempt hold the lock of the session or of the thread.
   */
  #refusalReason({ sessionId, attempt, thread }: LaunchSpec): string | null {
    if (this.alive().some(name => name.startsWith(`${sessionId}.`)))
      return 'something of the attempt before is still alive'
    const holder = [...this.attempts].find(
      ([key, other]) =>
        key !== attemptKey({ sessionId, attempt }) && thread !== null && other.thread === thread && isAlive(other),
    )
    return holder === undefined ? null : 'another session uses its thread now'
  }

  #start(spec: LaunchSpec, attempt: SimulatedAttempt): void {
    const pid = 1_000 + this.starts.push(attemptKey(spec))
    attempt.life = { pid, birth: `birth of ${pid}`, boot: this.boot, startedAt: this.clock.now() }
    this.notify(spec, 'started')
    const program = this.programs[spec.argv[0] ?? '']
    if (program === undefined) return this.#recordExit(spec, attempt, { kind: 'code', code: 127 })
    const start = this.starts.filter(key => key.startsWith(`${spec.sessionId}.`)).length
    const steps = program.run({ argv: spec.argv, stdin: textOf(attempt.stdin), start })
    attempt.process = new ScriptedProcess(program, steps, {
      clock: this.clock,
      write: bytes => this.#appendOutput(spec, attempt, bytes),
      litter: (name, hides) => attempt.litter.set(name, { hides }),
      edit: tree => {
        if (this.repository !== null) this.repository.tree = tree
      },
      forget: thread => this.records.set(thread, (this.records.get(thread) ?? []).slice(0, -1)),
      record: thread => this.records.set(thread, [...(this.records.get(thread) ?? []), textOf(attempt.stdin)]),
      exited: exit => this.#recordExit(spec, attempt, exit),
    })
    attempt.process.advance()
  }

  #appendOutput(spec: LaunchSpec, attempt: SimulatedAttempt, bytes: Uint8Array): void {
    attempt.output = Buffer.concat([attempt.output, bytes])
    attempt.writtenAt = this.clock.now()
    queueMicrotask(() => {
      for (const ear of this.listeners) ear.output(attemptKey(spec), spec.sessionId)
    })
  }

  #recordExit(spec: LaunchSpec, attempt: SimulatedAttempt, exit: Exit): void {
    if (!attempt.isShimAlive) return
    attempt.exit = exit
    this.notify(spec, 'exit')
  }

  /** Adds a mailbox entry. A listener sees it only if it still exists when the listener reads the mailbox. */
  notify(order: Pick<AttemptRef, 'sessionId' | 'attempt'>, kind: 'started' | 'exit'): void {
    const entry = `${attemptKey(order)}.${kind}`
    this.mailbox.add(entry)
    queueMicrotask(() => {
      if (this.mailbox.has(entry)) for (const ear of this.listeners) ear.news(order.sessionId)
    })
  }
}

function isAlive({ process, litter }: SimulatedAttempt): boolean {
  return process?.isAlive === true || litter.size > 0
}

function textOf(bytes: Uint8Array | null): string {
  return Buffer.from(bytes ?? []).toString()
}

export function attemptKey({ sessionId, attempt }: Pick<AttemptRef, 'sessionId' | 'attempt'>): string {
  return `${sessionId}.${attempt}`
}
