import fs from 'node:fs'
import type { ProcessIdentity } from '../../core/session/attempt.ts'
import type { SessionId } from '../../core/session/session-id-and-name.ts'
import { throttle } from '../../os/throttle.ts'
import type { Instant } from '../../lib/time.ts'
import type {
  AttemptRef,
  AttemptState,
  LaunchSpec,
  StoredRequest,
  ProcessStats,
  RunWhileLive,
  Runtime,
} from '../../ports/runtime.ts'
import { readTail, readPart, writeDurably, truncateAndWrite } from '../../os/files/file-io.ts'
import {
  type AttemptFolder,
  attemptFolder,
  attemptId,
  sessionFolder,
  terminalSocket,
} from '../../state/session-folder.ts'
import { readEnvironment, writeEnvironment } from '../../state/env-file.ts'
import type { Home } from '../../state/home.ts'
import { OomDetector } from './attempt-state.ts'
import { withStuckReadMarker } from './stuck-read-marker.ts'
import { DiskReserve } from '../../state/disk-reserve.ts'
import { bootId, checkLiveness } from '../../os/process/processes.ts'
import { readClaim, readStarted } from '../../state/shim-records.ts'
import { readRequest } from '../../state/stored-request.ts'
import { TmuxStatusLineWriter } from './tmux-status-line-writer.ts'
import { endAttempt, interruptAttempt, terminateAttempt } from './end-attempt.ts'
import { readAttemptState } from './attempt-state.ts'
import { prepareNextAttempt, reuseShim, writeAttempt } from './prepare-attempt.ts'
import { Mailbox } from './mailbox.ts'
import type { Panes } from './panes.ts'
import { TerminalRecording, stripClosingMark } from './terminal-recording.ts'
import { readLastActivity, readProcessStats, readOutputSize } from './attempt-state.ts'

/** Minimum interval in milliseconds between two reads of an agent that writes continuously. */
const NOTIFY_INTERVAL = 150
const MAX_STDERR_LENGTH = 65_536
/**
 * Milliseconds after a start before the runtime prepares the folder of the next attempt, to keep that work off the
 * start.
 */
const PREPARE_DELAY = 200

/** The runtime of this machine: shims in tmux panes, records in files. */
export class TmuxRuntime implements Runtime {
  readonly #home: Home
  readonly #panes: Panes
  readonly #recording: TerminalRecording
  readonly #watched = new Map<string, fs.FSWatcher>()
  readonly #recordedSizes = new Map<string, number>()
  readonly #statusLines: TmuxStatusLineWriter
  readonly #reserve: DiskReserve
  readonly #oom = new OomDetector()
  readonly #timers = new Set<NodeJS.Timeout>()
  #mailbox: Mailbox | undefined
  #notify: (sessionId: SessionId) => void = () => undefined

  constructor(home: Home, panes: Panes) {
    this.#home = home
    this.#panes = panes
    this.#recording = new TerminalRecording(home, panes)
    this.#reserve = new DiskReserve(home)
    this.#statusLines = new TmuxStatusLineWriter(home.statusLines)
  }

  async prepare(
    id: SessionId,
    files: { prompt: Uint8Array | null; env: Readonly<Record<string, string>>; hasTranscript?: boolean },
  ): Promise<void> {
    const folder = sessionFolder(this.#home, id)
    fs.mkdirSync(folder.root, { mode: 0o700 })
    if (files.hasTranscript) truncateAndWrite(folder.transcript, 0, '')
    writeEnvironment(this.#home, id, files.env)
    if (files.prompt !== null) writeDurably(folder.prompt, files.prompt)
  }

  readEnvironment(sessionId: SessionId): Readonly<Record<string, string>> {
    return readEnvironment(this.#home, sessionId)
  }

  async changeEnvironment(sessionId: SessionId, changes: Readonly<Record<string, string>>): Promise<void> {
    writeEnvironment(this.#home, sessionId, { ...readEnvironment(this.#home, sessionId), ...changes })
  }

  async storeMessage(sessionId: SessionId, message: number, text: Uint8Array): Promise<void> {
    fs.mkdirSync(sessionFolder(this.#home, sessionId).messages, { recursive: true, mode: 0o700 })
    writeDurably(this.#messageFile(sessionId, message), text)
  }

  readMessage(sessionId: SessionId, message: number): Uint8Array {
    return fs.readFileSync(this.#messageFile(sessionId, message))
  }

  readStdin(ref: AttemptRef): Uint8Array | null {
    const { stdin } = this.#folder(ref)
    return fs.existsSync(stdin) ? fs.readFileSync(stdin) : null
  }

  transcriptTail(sessionId: SessionId, limit: number): string {
    return readTail(sessionFolder(this.#home, sessionId).transcript, limit)
  }

  stderrTail(ref: AttemptRef): string {
    return readTail(this.#folder(ref).stderr, MAX_STDERR_LENGTH)
  }

  async launch(spec: LaunchSpec): Promise<void> {
    this.#oom.sample()
    const folder = this.#folder(spec)
    if (readClaim(folder) !== null) {
      if (spec.mode === 'tty' && readStarted(folder) === null) await this.#panes.releaseStart(spec)
      return
    }
    writeAttempt(spec, this.#home)
    const show = this.#shownFile(spec, spec.show)
    if (spec.mode === 'headless') {
      this.#prepareNextAttemptSoon(spec.sessionId)
      if (await reuseShim(spec, this.#home, this.#panes.shimProgram)) {
        if (spec.show === 'output') await this.#panes.switchShownFile(spec, show)
        return
      }
      await this.#endPreviousAttempt(spec)
      return this.#panes.openHeadless(spec, show)
    }
    this.#recording.watch(spec, true)
    await this.#panes.openTerminal(spec)
    await this.#panes.openView(spec, show)
  }

  attemptState(ref: AttemptRef): AttemptState {
    return readAttemptState(this.#folder(ref), ref.mode, this.#oom)
  }

  request(ref: AttemptRef): StoredRequest | null {
    return readRequest(this.#folder(ref))
  }

  get boot(): string {
    return bootId
  }

  lastActiveAt(ref: AttemptRef): Instant | null {
    return readLastActivity(this.#folder(ref))
  }

  outputSize(ref: AttemptRef): number {
    return readOutputSize(this.#folder(ref))
  }

  freeSpace(): number {
    return this.#reserve.freeSpace()
  }

  processStats(ref: AttemptRef): Promise<ProcessStats> {
    return readProcessStats(this.#folder(ref), attemptMarker(ref))
  }

  isDirectory(folder: string): boolean {
    return fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false
  }

  isProcessAlive(life: ProcessIdentity): boolean {
    return life.boot === bootId && checkLiveness(life) === 'alive'
  }

  readOutput(ref: AttemptRef, offset: number, limit: number): Uint8Array {
    const bytes = readPart(this.#folder(ref).stdout, offset, limit)
    return ref.mode === 'tty' ? stripClosingMark(bytes) : bytes
  }

  guardReading<T>(ref: AttemptRef, offset: number, read: (isStuck: boolean) => T): T {
    return withStuckReadMarker(this.#folder(ref).reading, offset, read)
  }

  writeTranscript(sessionId: SessionId, length: number, text: string): number {
    const { transcript } = sessionFolder(this.#home, sessionId)
    return this.#reserve.retryAfterRelease(() => truncateAndWrite(transcript, length, text))
  }

  async interrupt(ref: AttemptRef): Promise<void> {
    interruptAttempt(this.#folder(ref))
    this.#reserve.releaseIfFull() // If the program exits at once, its shim must write a record.
  }

  async terminate(ref: AttemptRef): Promise<void> {
    await terminateAttempt(this.#folder(ref), attemptMarker(ref))
  }

  async sweep(ref: AttemptRef, options: { force: boolean }): Promise<number> {
    const patience = options.force ? 'hurried' : 'usual'
    const drain = async (): Promise<void> => {
      this.#reserve.releaseIfFull() // The shim is about to record the program's exit.
      if (ref.mode === 'tty') await this.#recording.drain(ref, patience)
    }
    const next = this.#folder({ ...ref, attempt: ref.attempt + 1 })
    const ended = await endAttempt(this.#folder(ref), { ...options, marker: attemptMarker(ref), drain, next })
    this.#recording.watch(ref, false)
    return ended
  }

  /** Returns true if something has died that `repair` restores. */
  needsRepair(): boolean {
    return this.#panes.hasLostServer() || this.#recording.hasGap()
  }

  setStatusLine(sessionId: SessionId, line: string): void {
    this.#statusLines.set(sessionId, line)
  }

  async closePanes(ref: AttemptRef): Promise<void> {
    await this.#panes.close(ref)
    this.#statusLines.remove(ref.sessionId)
    this.#forgetSizes(ref.sessionId)
    this.watchOutput(ref, false)
    this.acknowledge(ref)
    for (const suffix of ['', '.lock'])
      fs.rmSync(`${terminalSocket(this.#home, ref.sessionId)}${suffix}`, { force: true })
  }

  async repair(
    live: readonly (AttemptRef & { show: LaunchSpec['show'] })[],
    whileLive: RunWhileLive = runDirectly,
  ): Promise<void> {
    if (live.length === 0) return
    const open = await this.#panes.listSessions()
    for (const ref of live) {
      if (open.has(ref.name) && ref.mode === 'headless') continue
      await whileLive(ref.sessionId, async () => {
        if (!open.has(ref.name)) await this.#panes.openView(ref, this.#shownFile(ref, ref.show))
        if (ref.mode === 'tty') await this.#recording.repair(ref)
      })
    }
  }

  async removeSession(sessionId: SessionId): Promise<void> {
    this.#forgetSizes(sessionId)
    fs.rmSync(sessionFolder(this.#home, sessionId).root, { recursive: true, force: true })
    this.acknowledge({ sessionId, attempt: Infinity })
  }

  #forgetSizes(sessionId: SessionId): void {
    for (const file of this.#recordedSizes.keys()) if (file.includes(`/${sessionId}/`)) this.#recordedSizes.delete(file)
  }

  recordLogSize(ref: AttemptRef, show: LaunchSpec['show']): void {
    this.#oom.sample()
    const { times } = show === 'transcript' ? sessionFolder(this.#home, ref.sessionId) : this.#folder(ref)
    const size = fs.statSync(this.#shownFile(ref, show), { throwIfNoEntry: false })?.size ?? 0
    if (size === 0 || this.#recordedSizes.get(times) === size) return
    this.#recordedSizes.set(times, size)
    fs.appendFileSync(times, `${Date.now()} ${size}\n`, { mode: 0o600 })
  }

  onChange(listener: (sessionId: SessionId) => void): void {
    this.#notify = listener
    this.#mailbox = new Mailbox(this.#home.mailbox, listener)
  }

  watchOutput(ref: AttemptRef, on: boolean): void {
    const key = attemptMarker(ref)
    if (!on) {
      this.#watched.get(key)?.close()
      this.#watched.delete(key)
    } else if (!this.#watched.has(key) && fs.existsSync(this.#folder(ref).stdout)) {
      const notify = throttle(NOTIFY_INTERVAL, () => this.#notify(ref.sessionId))
      const watcher = fs.watch(this.#folder(ref).stdout, notify)
      watcher.on('error', () => undefined) // The file was removed with its session; no more output follows.
      this.#watched.set(key, watcher)
    }
  }

  acknowledge({ sessionId, attempt }: Pick<AttemptRef, 'sessionId' | 'attempt'>): void {
    this.#mailbox?.removeEntries(sessionId, attempt)
  }

  shutDown(): void {
    this.#mailbox?.close()
    for (const timer of this.#timers) clearTimeout(timer)
    for (const watcher of this.#watched.values()) watcher.close()
    this.#watched.clear()
  }

  #prepareNextAttemptSoon(sessionId: SessionId): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      try {
        if (fs.existsSync(sessionFolder(this.#home, sessionId).root)) prepareNextAttempt(this.#home, sessionId)
      } catch {
        // A full disk, or a session that was just removed: `writeAttempt` creates the folder later.
      }
    }, PREPARE_DELAY)
    this.#timers.add(timer)
  }

  /** Ends a shim that could not be reused: it holds the session's lock, and the next attempt could not start. */
  async #endPreviousAttempt(spec: LaunchSpec): Promise<void> {
    const previous = { ...spec, attempt: spec.attempt - 1 }
    const { exit, shim } = this.attemptState(previous)
    if (exit !== null && shim === 'alive') await this.sweep(previous, { force: false })
  }

  #messageFile(sessionId: SessionId, message: number): string {
    const folder = sessionFolder(this.#home, sessionId)
    return message === 1 ? folder.prompt : `${folder.messages}/${message}`
  }

  #shownFile(ref: AttemptRef, show: LaunchSpec['show']): string {
    return show === 'transcript' ? sessionFolder(this.#home, ref.sessionId).transcript : this.#folder(ref).stdout
  }

  #folder(ref: AttemptRef): AttemptFolder {
    return attemptFolder(this.#home, ref.sessionId, ref.attempt)
  }
}

const runDirectly: RunWhileLive = (_, action) => action()

function attemptMarker(ref: AttemptRef): string {
  return attemptId(ref.sessionId, ref.attempt)
}
