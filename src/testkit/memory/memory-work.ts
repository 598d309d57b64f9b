import type { Life } from '../../core/session.ts'
import type { AttemptRef, Evidence, LaunchOrder, StoredRequest, Usage, WhileLive, Work } from '../../ports/work.ts'
import type { Instant } from '../../lib/time.ts'
import { invariant } from '../../lib/trouble.ts'
import { keyOf, type Machine, type SessionFiles } from './machine.ts'

/** One supervisor's view of a machine in memory. */
export class MemoryWork implements Work {
  readonly #machine: Machine
  readonly #watched = new Set<string>()
  #ear: Parameters<Machine['ears']['add']>[0] | undefined

  constructor(machine: Machine) {
    this.#machine = machine
  }

  async prepare(
    sessionId: string,
    { prompt, env }: { prompt: Uint8Array | null; env: Readonly<Record<string, string>> },
  ): Promise<void> {
    invariant(!this.#machine.sessions.has(sessionId), `${sessionId} was prepared before`)
    const messages = new Map(prompt === null ? [] : [[1, prompt]])
    this.#machine.sessions.set(sessionId, { messages, env, transcript: new Uint8Array(), times: [] })
  }

  environment(sessionId: string): Readonly<Record<string, string>> {
    return this.#files(sessionId).env
  }

  async changeEnvironment(sessionId: string, changes: Readonly<Record<string, string>>): Promise<void> {
    const files = this.#files(sessionId)
    files.env = { ...files.env, ...changes }
  }

  async keep(sessionId: string, message: number, text: Uint8Array): Promise<void> {
    this.#files(sessionId).messages.set(message, text)
  }

  message(sessionId: string, message: number): Uint8Array {
    const text = this.#files(sessionId).messages.get(message)
    invariant(text !== undefined, `${sessionId} has no message ${message}`)
    return text
  }

  given(ref: AttemptRef): Uint8Array | null {
    return this.#machine.attempt(ref).stdin
  }

  lastWords(sessionId: string, limit: number): string {
    return Buffer.from(this.#files(sessionId).transcript).subarray(-limit).toString()
  }

  complaints(): string {
    return ''
  }

  async launch(order: LaunchOrder): Promise<void> {
    if (this.#machine.attempt(order).claim === null) this.#machine.openPane(order)
  }

  evidence(ref: AttemptRef): Evidence {
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
      isAlone: this.#machine.hasGroups && ref.mode === 'headless' && exit !== null && litter.size === 0,
    }
  }

  request(ref: AttemptRef): StoredRequest | null {
    return this.#machine.attempt(ref).request
  }

  get boot(): string {
    return this.#machine.boot
  }

  seenAt(ref: AttemptRef): Instant | null {
    const { life, writtenAt } = this.#machine.attempt(ref)
    return writtenAt ?? life?.startedAt ?? null
  }

  whileReading<T>(ref: AttemptRef, offset: number, read: (isStuck: boolean) => T): T {
    return read(this.#machine.attempt(ref).stuckAt === offset)
  }

  written(ref: AttemptRef): number {
    return this.#machine.attempt(ref).output.length
  }

  freeSpace(): number {
    const attempts = [...this.#machine.attempts.values()]
    return attempts.reduce((free, { output }) => free - output.length, this.#machine.disk)
  }

  async vitals(ref: AttemptRef): Promise<Usage> {
    const { output, process, life } = this.#machine.attempt(ref)
    const processes = process?.isAlive && life !== null ? [life.pid] : []
    return { written: output.length, cpu: process?.cpu ?? 0, processes, memory: process?.memory ?? 0 }
  }

  isFolder(path: string): boolean {
    return !this.#machine.lostFolders.has(path)
  }

  isAlive({ pid, birth }: Life): boolean {
    const attempts = [...this.#machine.attempts.values()]
    return attempts.some(({ life, process }) => life?.pid === pid && life.birth === birth && process?.isAlive === true)
  }

  read(ref: AttemptRef, offset: number, limit: number): Uint8Array {
    return this.#machine.attempt(ref).output.slice(offset, offset + limit)
  }

  write(sessionId: string, length: number, text: string): number {
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

  caption(): void {}

  async close(ref: AttemptRef): Promise<void> {
    this.#machine.panes.delete(ref.name)
    this.heard(ref)
  }

  async mend(live: readonly AttemptRef[], whileLive: WhileLive): Promise<void> {
    for (const { name, sessionId } of live) await whileLive(sessionId, async () => void this.#machine.panes.add(name))
  }

  async remove(sessionId: string): Promise<void> {
    this.#machine.sessions.delete(sessionId)
    this.heard({ sessionId, attempt: Infinity })
    for (const key of this.#machine.attempts.keys()) {
      if (key.startsWith(`${sessionId}.`)) this.#machine.attempts.delete(key)
    }
  }

  measure(ref: AttemptRef, show: LaunchOrder['show']): void {
    const files = this.#machine.sessions.get(ref.sessionId)
    const size = show === 'transcript' ? files?.transcript.length : this.#machine.attempt(ref).output.length
    if (size) files?.times.push({ at: this.#machine.clock.now(), size })
  }

  onNews(listener: (sessionId: string) => void): void {
    this.#ear = {
      news: listener,
      output: (attempt, sessionId) => {
        if (this.#watched.has(attempt)) listener(sessionId)
      },
    }
    this.#machine.ears.add(this.#ear)
    queueMicrotask(() => {
      for (const letter of this.#machine.letters) listener(letter.slice(0, letter.indexOf('.')))
    })
  }

  watch(ref: AttemptRef, on: boolean): void {
    if (on) this.#watched.add(keyOf(ref))
    else this.#watched.delete(keyOf(ref))
  }

  heard({ sessionId, attempt }: Pick<AttemptRef, 'sessionId' | 'attempt'>): void {
    for (const letter of this.#machine.letters) {
      const [from, number] = letter.split('.')
      if (from === sessionId && Number(number) <= attempt) this.#machine.letters.delete(letter)
    }
  }

  #files(sessionId: string): SessionFiles {
    const files = this.#machine.sessions.get(sessionId)
    invariant(files !== undefined, `${sessionId} was never prepared`)
    return files
  }

  shutDown(): void {
    if (this.#ear !== undefined) this.#machine.ears.delete(this.#ear)
  }
}
