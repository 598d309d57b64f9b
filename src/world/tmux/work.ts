import fs from 'node:fs'
import type { Life } from '../../core/session.ts'
import { seldom } from '../../lib/seldom.ts'
import type { AttemptRef, Evidence, LaunchOrder, WhileLive, Work } from '../../ports/work.ts'
import { readEnd, readPart, writeDurably, writeFrom } from '../os/files.ts'
import { type AttemptFolder, attemptFolder, attemptId, sessionFolder, terminalSocket } from '../os/folders.ts'
import type { Home } from '../os/home.ts'
import { bootId, lives } from '../os/processes.ts'
import { showTranscript } from '../os/project-folder.ts'
import { readClaim, readExit, readStarted } from '../os/spool.ts'
import { endAttempt, interruptAttempt, terminateAttempt } from './end-attempt.ts'
import { layDown, savedEnv } from './lay-down.ts'
import { Mailbox } from './mailbox.ts'
import type { Panes } from './panes.ts'
import { Recording, withoutClosingMark } from './recording.ts'

/** An agent that writes without pause is read this often, not at each write. */
const NEWS_PAUSE = 150
const LONGEST_COMPLAINT = 65_536

/** The work plane on this machine: shims in tmux panes, records in files. */
export class TmuxWork implements Work {
  readonly #home: Home
  readonly #panes: Panes
  readonly #recording: Recording
  readonly #watched = new Map<string, fs.FSWatcher>()
  readonly #measured = new Map<string, number>()
  #mailbox: Mailbox | undefined
  #tell: (sessionId: string) => void = () => undefined

  constructor(home: Home, panes: Panes) {
    this.#home = home
    this.#panes = panes
    this.#recording = new Recording(home, panes)
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
    const folder = this.#folder(order)
    if (readClaim(folder) !== null) {
      if (order.mode === 'tty' && readStarted(folder) === null) await this.#panes.openGate(order)
      return
    }
    layDown(order, this.#home)
    const show = this.#shown(order, order.show)
    if (order.show === 'transcript') showTranscript(order.cwd, order.name, show)
    if (order.mode === 'headless') return this.#panes.openHeadless(order, show)
    this.#recording.watch(order, true)
    await this.#panes.openTerminal(order)
    await this.#panes.openView(order, show)
  }

  evidence(ref: AttemptRef): Evidence {
    const folder = this.#folder(ref)
    const exit = readExit(folder)
    const claim = readClaim(folder)
    const life = readStarted(folder)
    const isEarlierBoot = life !== null && life.boot !== bootId
    return {
      isClaimed: claim !== null,
      openedAt: claim === null ? (fs.statSync(folder.launch, { throwIfNoEntry: false })?.mtimeMs ?? null) : null,
      refusal: exit?.kind === 'refused' ? exit.reason : null,
      life,
      exit: exit?.kind === 'ended' ? exit.exit : null,
      process: life === null ? 'unknown' : isEarlierBoot ? 'dead' : lives(life),
      shim: claim === null ? 'unknown' : isEarlierBoot ? 'dead' : lives(claim),
    }
  }

  isAlive(life: Life): boolean {
    return life.boot === bootId && lives(life) === 'alive'
  }

  read(ref: AttemptRef, offset: number, limit: number): Uint8Array {
    const bytes = readPart(this.#folder(ref).stdout, offset, limit)
    return ref.mode === 'tty' ? withoutClosingMark(bytes) : bytes
  }

  write(sessionId: string, length: number, text: string): number {
    return writeFrom(sessionFolder(this.#home, sessionId).transcript, length, text)
  }

  async interrupt(ref: AttemptRef): Promise<void> {
    interruptAttempt(this.#folder(ref))
  }

  async terminate(ref: AttemptRef): Promise<void> {
    await terminateAttempt(this.#folder(ref), markerOf(ref))
  }

  async sweep(ref: AttemptRef, options: { force: boolean }): Promise<void> {
    const drain = async (): Promise<void> => (ref.mode === 'tty' ? this.#recording.drain(ref) : undefined)
    await endAttempt(this.#folder(ref), { ...options, marker: markerOf(ref), drain })
    this.#recording.watch(ref, false)
  }

  /** Whether something has died that `mend` gives back. */
  isToMend(): boolean {
    return this.#panes.hasLostServer() || this.#recording.hasGap()
  }

  async close(ref: AttemptRef): Promise<void> {
    await this.#panes.close(ref)
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
  }

  measure(ref: AttemptRef, show: LaunchOrder['show']): void {
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

  heard(ref: AttemptRef): void {
    this.#mailbox?.empty(markerOf(ref))
  }

  shutDown(): void {
    this.#mailbox?.close()
    for (const watcher of this.#watched.values()) watcher.close()
    this.#watched.clear()
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
