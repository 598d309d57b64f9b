import fs from 'node:fs'
import type { Life } from '../../core/session.ts'
import { seldom } from '../../lib/seldom.ts'
import type { Instant } from '../../lib/time.ts'
import type { AttemptRef, Evidence, LaunchOrder, StoredRequest, Usage, WhileLive, Work } from '../../ports/work.ts'
import { readEnd, readPart, writeDurably, writeFrom } from '../os/files.ts'
import { type AttemptFolder, attemptFolder, attemptId, sessionFolder, terminalSocket } from '../os/folders.ts'
import type { Home } from '../os/home.ts'
import { OomWatch } from '../os/oom-watch.ts'
import { withReadingMark } from '../os/reading-mark.ts'
import { Reserve } from '../os/reserve.ts'
import { bootId, lives } from '../os/processes.ts'
import { readClaim, readStarted } from '../os/spool.ts'
import { readRequest } from '../os/stored-request.ts'
import { Captions } from './captions.ts'
import { endAttempt, interruptAttempt, terminateAttempt } from './end-attempt.ts'
import { evidenceIn } from './evidence.ts'
import { handOver } from './hand-over.ts'
import { layDown, makeSpare, savedEnv } from './lay-down.ts'
import { Mailbox } from './mailbox.ts'
import type { Panes } from './panes.ts'
import { Recording, withoutClosingMark } from './recording.ts'
import { lastSeen, vitalsOf, writtenBy } from './vitals.ts'

/** An agent that writes without pause is read this often, not at each write. */
const NEWS_PAUSE = 150
const LONGEST_COMPLAINT = 65_536
/** When a program has started, there is time to make its successor's folder ready. */
const SPARE_TIME = 200

/** The work plane on this machine: shims in tmux panes, records in files. */
export class TmuxWork implements Work {
  readonly #home: Home
  readonly #panes: Panes
  readonly #recording: Recording
  readonly #watched = new Map<string, fs.FSWatcher>()
  readonly #measured = new Map<string, number>()
  readonly #captions: Captions
  readonly #reserve: Reserve
  readonly #oom = new OomWatch()
  readonly #timers = new Set<NodeJS.Timeout>()
  #mailbox: Mailbox | undefined
  #tell: (sessionId: string) => void = () => undefined

  constructor(home: Home, panes: Panes) {
    this.#home = home
    this.#panes = panes
    this.#recording = new Recording(home, panes)
    this.#reserve = new Reserve(home)
    this.#captions = new Captions(home.captions)
  }

  async prepare(
    id: string,
    files: { prompt: Uint8Array | null; env: Readonly<Record<string, string>>; hasTranscript?: boolean },
  ): Promise<void> {
    const folder = sessionFolder(this.#home, id)
    fs.mkdirSync(folder.root, { mode: 0o700 })
    if (files.hasTranscript) writeFrom(folder.transcript, 0, '')
    writeDurably(folder.env, JSON.stringify(files.env))
    if (files.prompt !== null) writeDurably(folder.prompt, files.prompt)
  }

  environment(sessionId: string): Readonly<Record<string, string>> {
    return savedEnv(sessionFolder(this.#home, sessionId).env)
  }

  async changeEnvironment(sessionId: string, changes: Readonly<Record<string, string>>): Promise<void> {
    const { env } = sessionFolder(this.#home, sessionId)
    writeDurably(env, JSON.stringify({ ...savedEnv(env), ...changes }))
  }

  async keep(sessionId: string, message: number, text: Uint8Array): Promise<void> {
    fs.mkdirSync(sessionFolder(this.#home, sessionId).messages, { recursive: true, mode: 0o700 })
    writeDurably(this.#messageFile(sessionId, message), text)
  }

  message(sessionId: string, message: number): Uint8Array {
    return fs.readFileSync(this.#messageFile(sessionId, message))
  }

  given(ref: AttemptRef): Uint8Array | null {
    const { stdin } = this.#folder(ref)
    return fs.existsSync(stdin) ? fs.readFileSync(stdin) : null
  }

  lastWords(sessionId: string, limit: number): string {
    return readEnd(sessionFolder(this.#home, sessionId).transcript, limit)
  }

  complaints(ref: AttemptRef): string {
    return readEnd(this.#folder(ref).stderr, LONGEST_COMPLAINT)
  }

  async launch(order: LaunchOrder): Promise<void> {
    this.#oom.note()
    const folder = this.#folder(order)
    if (readClaim(folder) !== null) {
      if (order.mode === 'tty' && readStarted(folder) === null) await this.#panes.openGate(order)
      return
    }
    layDown(order, this.#home)
    const show = this.#shown(order, order.show)
    if (order.mode === 'headless') {
      this.#makeSpareSoon(order.sessionId)
      if (await handOver(order, this.#home, this.#panes.shimProgram)) {
        if (order.show === 'output') await this.#panes.showInstead(order, show)
        return
      }
      await this.#clearBefore(order)
      return this.#panes.openHeadless(order, show)
    }
    this.#recording.watch(order, true)
    await this.#panes.openTerminal(order)
    await this.#panes.openView(order, show)
  }

  evidence(ref: AttemptRef): Evidence {
    return evidenceIn(this.#folder(ref), ref.mode, this.#oom)
  }

  request(ref: AttemptRef): StoredRequest | null {
    return readRequest(this.#folder(ref))
  }

  get boot(): string {
    return bootId
  }

  seenAt(ref: AttemptRef): Instant | null {
    return lastSeen(this.#folder(ref))
  }

  written(ref: AttemptRef): number {
    return writtenBy(this.#folder(ref))
  }

  freeSpace(): number {
    return this.#reserve.freeSpace()
  }

  vitals(ref: AttemptRef): Promise<Usage> {
    return vitalsOf(this.#folder(ref), markerOf(ref))
  }

  isFolder(folder: string): boolean {
    return fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false
  }

  isAlive(life: Life): boolean {
    return life.boot === bootId && lives(life) === 'alive'
  }

  read(ref: AttemptRef, offset: number, limit: number): Uint8Array {
    const bytes = readPart(this.#folder(ref).stdout, offset, limit)
    return ref.mode === 'tty' ? withoutClosingMark(bytes) : bytes
  }

  whileReading<T>(ref: AttemptRef, offset: number, read: (isStuck: boolean) => T): T {
    return withReadingMark(this.#folder(ref).reading, offset, read)
  }

  write(sessionId: string, length: number, text: string): number {
    const { transcript } = sessionFolder(this.#home, sessionId)
    return this.#reserve.within(() => writeFrom(transcript, length, text))
  }

  async interrupt(ref: AttemptRef): Promise<void> {
    interruptAttempt(this.#folder(ref))
    this.#reserve.releaseIfFull() // A program that ends at once is one whose shim has something to write.
  }

  async terminate(ref: AttemptRef): Promise<void> {
    await terminateAttempt(this.#folder(ref), markerOf(ref))
  }

  async sweep(ref: AttemptRef, options: { force: boolean }): Promise<number> {
    const looks = options.force ? 'hurried' : 'usual'
    const drain = async (): Promise<void> => {
      this.#reserve.releaseIfFull() // The shim is about to write down how the program ended.
      if (ref.mode === 'tty') await this.#recording.drain(ref, looks)
    }
    const next = this.#folder({ ...ref, attempt: ref.attempt + 1 })
    const ended = await endAttempt(this.#folder(ref), { ...options, marker: markerOf(ref), drain, next })
    this.#recording.watch(ref, false)
    return ended
  }

  /** Whether something has died that `mend` gives back. */
  isToMend(): boolean {
    return this.#panes.hasLostServer() || this.#recording.hasGap()
  }

  caption(sessionId: string, line: string): void {
    this.#captions.set(sessionId, line)
  }

  async close(ref: AttemptRef): Promise<void> {
    await this.#panes.close(ref)
    this.#captions.remove(ref.sessionId)
    this.watch(ref, false)
    this.heard(ref)
    for (const suffix of ['', '.lock'])
      fs.rmSync(`${terminalSocket(this.#home, ref.sessionId)}${suffix}`, { force: true })
  }

  async mend(
    live: readonly (AttemptRef & { show: LaunchOrder['show'] })[],
    whileLive: WhileLive = atOnce,
  ): Promise<void> {
    if (live.length === 0) return
    const open = await this.#panes.sessions()
    for (const ref of live) {
      if (open.has(ref.name) && ref.mode === 'headless') continue
      await whileLive(ref.sessionId, async () => {
        if (!open.has(ref.name)) await this.#panes.openView(ref, this.#shown(ref, ref.show))
        if (ref.mode === 'tty') await this.#recording.mend(ref)
      })
    }
  }

  async remove(sessionId: string): Promise<void> {
    for (const file of this.#measured.keys()) if (file.includes(`/${sessionId}/`)) this.#measured.delete(file)
    fs.rmSync(sessionFolder(this.#home, sessionId).root, { recursive: true, force: true })
    this.heard({ sessionId, attempt: Infinity })
  }

  measure(ref: AttemptRef, show: LaunchOrder['show']): void {
    this.#oom.note()
    const { times } = show === 'transcript' ? sessionFolder(this.#home, ref.sessionId) : this.#folder(ref)
    const size = fs.statSync(this.#shown(ref, show), { throwIfNoEntry: false })?.size ?? 0
    if (size === 0 || this.#measured.get(times) === size) return
    this.#measured.set(times, size)
    fs.appendFileSync(times, `${Date.now()} ${size}\n`, { mode: 0o600 })
  }

  onNews(listener: (sessionId: string) => void): void {
    this.#tell = listener
    this.#mailbox = new Mailbox(this.#home.mailbox, listener)
  }

  watch(ref: AttemptRef, on: boolean): void {
    const key = markerOf(ref)
    if (!on) {
      this.#watched.get(key)?.close()
      this.#watched.delete(key)
    } else if (!this.#watched.has(key) && fs.existsSync(this.#folder(ref).stdout)) {
      const tell = seldom(NEWS_PAUSE, () => this.#tell(ref.sessionId))
      const watcher = fs.watch(this.#folder(ref).stdout, tell)
      watcher.on('error', () => undefined) // The file was removed with its session; nothing more will be written.
      this.#watched.set(key, watcher)
    }
  }

  heard({ sessionId, attempt }: Pick<AttemptRef, 'sessionId' | 'attempt'>): void {
    this.#mailbox?.empty(sessionId, attempt)
  }

  shutDown(): void {
    this.#mailbox?.close()
    for (const timer of this.#timers) clearTimeout(timer)
    for (const watcher of this.#watched.values()) watcher.close()
    this.#watched.clear()
  }

  #makeSpareSoon(sessionId: string): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      try {
        if (fs.existsSync(sessionFolder(this.#home, sessionId).root)) makeSpare(this.#home, sessionId)
      } catch {
        // A full disk, or a session just removed: the next attempt has its folder made when it is laid down.
      }
    }, SPARE_TIME)
    this.#timers.add(timer)
  }

  /** A shim that could not be called to the next attempt would keep it from beginning. */
  async #clearBefore(order: LaunchOrder): Promise<void> {
    const before = { ...order, attempt: order.attempt - 1 }
    const { exit, shim } = this.evidence(before)
    if (exit !== null && shim === 'alive') await this.sweep(before, { force: false })
  }

  #messageFile(sessionId: string, message: number): string {
    const folder = sessionFolder(this.#home, sessionId)
    return message === 1 ? folder.prompt : `${folder.messages}/${message}`
  }

  #shown(ref: AttemptRef, show: LaunchOrder['show']): string {
    return show === 'transcript' ? sessionFolder(this.#home, ref.sessionId).transcript : this.#folder(ref).stdout
  }

  #folder(ref: AttemptRef): AttemptFolder {
    return attemptFolder(this.#home, ref.sessionId, ref.attempt)
  }
}

const atOnce: WhileLive = (_, deed) => deed()

function markerOf(ref: AttemptRef): string {
  return attemptId(ref.sessionId, ref.attempt)
}
