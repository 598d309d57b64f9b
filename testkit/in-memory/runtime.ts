import type { ProcessIdentity } from '../../src/core/session/attempt.ts'
import type { SessionId } from '../../src/core/session/session-id-and-name.ts'
import type {
  AttemptRef,
  AttemptState,
  LaunchSpec,
  StoredRequest,
  ProcessStats,
  RunWhileLive,
  Runtime,
} from '../../src/ports/runtime.ts'
import type { Instant } from '../../src/lib/time.ts'
import { invariant } from '../../src/lib/errors.ts'
import { testSessionId } from '../core/ids.ts'
import { attemptKey, type SimulatedMachine, type SessionFiles } from './machine.ts'

/** A supervisor's runtime on a simulated machine. */
export class InMemoryRuntime implements Runtime {
  readonly #machine: SimulatedMachine
  readonly #watched = new Set<string>()
  #listener: Parameters<SimulatedMachine['listeners']['add']>[0] | undefined

  constructor(machine: SimulatedMachine) {
    this.#machine = machine
  }

  async prepare(
    sessionId: SessionId,
    { prompt, env }: { prompt: Uint8Array | null; env: Readonly<Record<string, string>> },
  ): Promise<void> {
    invariant(!this.#machine.sessions.has(sessionId), `${sessionId} was prepared before`)
    const messages = new Map(prompt === null ? [] : [[1, prompt]])
    this.#machine.sessions.set(sessionId, { messages, env, transcript: new Uint8Array(), times: [] })
  }

  readEnvironment(sessionId: SessionId): Readonly<Record<string, string>> {
    return this.#files(sessionId).env
  }

  async changeEnvironment(sessionId: SessionId, changes: Readonly<Record<string, string>>): Promise<void> {
    const files = this.#files(sessionId)
    files.env = { ...files.env, ...changes }
  }

  async storeMessage(sessionId: SessionId, message: number, text: Uint8Array): Promise<void> {
    this.#files(sessionId).messages.set(message, text)
  }

  readMessage(sessionId: SessionId, message: number): Uint8Array {
    const text = this.#files(sessionId).messages.get(message)
    invariant(text !== undefined, `${sessionId} has no message ${message}`)
    return text
  }

  readStdin(ref: AttemptRef): Uint8Array | null {
    return this.#machine.attempt(ref).stdin
  }

  transcriptTail(sessionId: SessionId, limit: number): string {
    return Buffer.from(this.#files(sessionId).transcript).subarray(-limit).toString()
  }

  stderrTail(): string {
    return ''
  }

  async launch(spec: LaunchSpec): Promise<void> {
    if (this.#machine.attempt(spec).claim === null) this.#machine.openPane(spec)
  }

  attemptState(ref: AttemptRef): AttemptState {
    const { claim, openedAt, isShimAlive, refusal, life, exit, process, litter } = this.#machine.attempt(ref)
    return {
      isClaimed: claim !== null,
      openedAt: claim === null ? openedAt : null,
      refusal,
      life,
      exit,
      memory: null,
      process: life === null ? 'unknown' : process?.isAlive ? 'alive' : 'dead',
      shim: claim === null ? 'unknown' : isShimAlive ? 'alive' : 'dead',
      isTreeEmpty: this.#machine.hasGroups && ref.mode === 'headless' && exit !== null && litter.size === 0,
    }
  }

  request(ref: AttemptRef): StoredRequest | null {
    return this.#machine.attempt(ref).request
  }

  get boot(): string {
    return this.#machine.boot
  }

  lastActiveAt(ref: AttemptRef): Instant | null {
    const { life, writtenAt } = this.#machine.attempt(ref)
    return writtenAt ?? life?.startedAt ?? null
  }

  guardReading<T>(ref: AttemptRef, offset: number, read: (isStuck: boolean) => T): T {
    return read(this.#machine.attempt(ref).stuckAt === offset)
  }

  outputSize(ref: AttemptRef): number {
    return this.#machine.attempt(ref).output.length
  }

  freeSpace(): number {
    const attempts = [...this.#machine.attempts.values()]
    return attempts.reduce((free, { output }) => free - output.length, this.#machine.disk)
  }

  async processStats(ref: AttemptRef): Promise<ProcessStats> {
    const { output, process, life } = this.#machine.attempt(ref)
    const processes = process?.isAlive && life !== null ? [life.pid] : []
    return { written: output.length, cpu: process?.cpu ?? 0, processes, memory: process?.memory ?? 0 }
  }

  isDirectory(path: string): boolean {
    return !this.#machine.lostFolders.has(path)
  }

  isProcessAlive({ pid, birth }: ProcessIdentity): boolean {
    const attempts = [...this.#machine.attempts.values()]
    return attempts.some(({ life, process }) => life?.pid === pid && life.birth === birth && process?.isAlive === true)
  }

  readOutput(ref: AttemptRef, offset: number, limit: number): Uint8Array {
    return this.#machine.attempt(ref).output.slice(offset, offset + limit)
  }

  writeTranscript(sessionId: SessionId, length: number, text: string): number {
    const files = this.#files(sessionId)
    const kept = Buffer.alloc(length)
    kept.set(files.transcript.subarray(0, length))
    files.transcript = Buffer.concat([kept, Buffer.from(text)])
    return files.transcript.length
  }

  async interrupt(ref: AttemptRef): Promise<void> {
    const attempt = this.#machine.attempt(ref)
    if (attempt.isInterrupted || !attempt.process?.isAlive) return
    attempt.isInterrupted = true
    attempt.process.signal('SIGINT')
  }

  async terminate(ref: AttemptRef): Promise<void> {
    this.#machine.attempt(ref).process?.signal('SIGTERM')
  }

  async sweep(ref: AttemptRef, options: { force: boolean }): Promise<number> {
    const attempt = this.#machine.attempt(ref)
    if (!options.force) attempt.process?.signal('SIGTERM')
    attempt.process?.signal('SIGKILL')
    const found = [...attempt.litter].filter(([, { hides }]) => !hides)
    for (const [name] of found) attempt.litter.delete(name)
    attempt.claim ??= 'nobody'
    attempt.isShimAlive = false
    return found.length
  }

  setStatusLine(): void {}

  async closePanes(ref: AttemptRef): Promise<void> {
    this.#machine.panes.delete(ref.name)
    this.acknowledge(ref)
  }

  async repair(live: readonly AttemptRef[], whileLive: RunWhileLive): Promise<void> {
    for (const { name, sessionId } of live) await whileLive(sessionId, async () => void this.#machine.panes.add(name))
  }

  async removeSession(sessionId: SessionId): Promise<void> {
    this.#machine.sessions.delete(sessionId)
    this.acknowledge({ sessionId, attempt: Infinity })
    for (const key of this.#machine.attempts.keys()) {
      if (key.startsWith(`${sessionId}.`)) this.#machine.attempts.delete(key)
    }
  }

  recordLogSize(ref: AttemptRef, show: LaunchSpec['show']): void {
    const files = this.#machine.sessions.get(ref.sessionId)
    const size = show === 'transcript' ? files?.transcript.length : this.#machine.attempt(ref).output.length
    if (size) files?.times.push({ at: this.#machine.clock.now(), size })
  }

  onChange(listener: (sessionId: SessionId) => void): void {
    this.#listener = {
      news: listener,
      output: (attempt, sessionId) => {
        if (this.#watched.has(attempt)) listener(sessionId)
      },
    }
    this.#machine.listeners.add(this.#listener)
    queueMicrotask(() => {
      for (const entry of this.#machine.mailbox) listener(testSessionId(entry.slice(0, entry.indexOf('.'))))
    })
  }

  watchOutput(ref: AttemptRef, on: boolean): void {
    if (on) this.#watched.add(attemptKey(ref))
    else this.#watched.delete(attemptKey(ref))
  }

  acknowledge({ sessionId, attempt }: Pick<AttemptRef, 'sessionId' | 'attempt'>): void {
    for (const entry of this.#machine.mailbox) {
      const [from, number] = entry.split('.')
      if (from === sessionId && Number(number) <= attempt) this.#machine.mailbox.delete(entry)
    }
  }

  #files(sessionId: SessionId): SessionFiles {
    const files = this.#machine.sessions.get(sessionId)
    invariant(files !== undefined, `${sessionId} was never prepared`)
    return files
  }

  shutDown(): void {
    if (this.#listener !== undefined) this.#machine.listeners.delete(this.#listener)
  }
}
