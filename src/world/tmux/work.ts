import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Life } from '../../core/session.ts'
import { seldom } from '../../lib/seldom.ts'
import { hasCode } from '../../lib/trouble.ts'
import type { AttemptRef, Evidence, LaunchOrder, Work } from '../../ports/work.ts'
import { replaceFile, writeDurably } from '../os/durable.ts'
import { endTree, findTree, type Tree } from '../os/end-tree.ts'
import { type AttemptFolder, attemptFolder, attemptId, sessionFolder, terminalSocket } from '../os/folders.ts'
import type { Home } from '../os/home.ts'
import { bootId, groupToInterrupt, lives, type ProcessId, signalProcess } from '../os/processes.ts'
import { launchFile } from './launch-file.ts'
import { Mailbox } from './mailbox.ts'
import { missingLines } from './mend-recording.ts'
import type { Panes } from './panes.ts'
import { CLOSING_MARK, readClaim, readExit, readRecorder, readStarted } from '../os/spool.ts'

/** What is left of an ended attempt gets this long to go by itself. */
const POLITE_GRACE = 2_000
const SWEEP_LIMIT = 10_000
/** An agent that writes without pause is read this often, not at each write. */
const NEWS_PAUSE = 150
/** Looks without a new byte after which we no longer wait for it, 20 ms apart. */
const DRAIN_LOOKS = 100
/** Looks for the exit record of a program that is gone, 10 ms apart. */
const CONCLUDE_LOOKS = 300

/** The work plane on this machine: shims in tmux panes, records in files. */
export class TmuxWork implements Work {
  readonly #home: Home
  readonly #panes: Panes
  readonly #watched = new Map<string, fs.FSWatcher>()
  readonly #measured = new Map<string, number>()
  #mailbox: Mailbox | undefined
  #tell: (sessionId: string) => void = () => undefined

  constructor(home: Home, panes: Panes) {
    this.#home = home
    this.#panes = panes
  }

  async prepare(
    id: string,
    files: { prompt: Uint8Array | null; env: Readonly<Record<string, string>> },
  ): Promise<void> {
    const folder = sessionFolder(this.#home, id)
    fs.mkdirSync(folder.root, { mode: 0o700 })
    writeDurably(folder.env, JSON.stringify(files.env))
    if (files.prompt !== null) writeDurably(folder.prompt, files.prompt)
  }

  async launch(order: LaunchOrder): Promise<void> {
    const folder = this.#folder(order)
    if (readClaim(folder) !== null) {
      if (order.mode === 'tty' && readStarted(folder) === null) await this.#panes.openGate(order)
      return
    }
    this.#layDown(order, folder)
    const show = this.#shown(order, order.show)
    if (order.mode === 'headless') return this.#panes.openHeadless(order, show)
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
      isRefused: exit?.kind === 'refused',
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
    const bytes = this.#recorded(ref, offset, limit)
    return ref.mode === 'tty' ? withoutClosingMark(bytes) : bytes
  }

  #recorded(ref: AttemptRef, offset: number, limit: number): Buffer {
    try {
      const fd = fs.openSync(this.#folder(ref).stdout, 'r')
      try {
        const size = Math.max(0, Math.min(limit, fs.fstatSync(fd).size - offset))
        const bytes = Buffer.alloc(size)
        return bytes.subarray(0, fs.readSync(fd, bytes, 0, size, offset))
      } finally {
        fs.closeSync(fd)
      }
    } catch (cause) {
      if (hasCode(cause, 'ENOENT')) return Buffer.alloc(0)
      throw cause
    }
  }

  write(sessionId: string, length: number, text: string): number {
    const fd = fs.openSync(
      sessionFolder(this.#home, sessionId).transcript,
      fs.constants.O_RDWR | fs.constants.O_CREAT,
      0o600,
    )
    try {
      if (fs.fstatSync(fd).size > length) fs.ftruncateSync(fd, length)
      return length + fs.writeSync(fd, text, length)
    } finally {
      fs.closeSync(fd)
    }
  }

  async interrupt(ref: AttemptRef): Promise<void> {
    const folder = this.#folder(ref)
    const life = readStarted(folder)
    if (life === null || lives(life) !== 'alive' || !isFirst(folder.interrupted)) return
    const group = groupToInterrupt(life.pid)
    if (group === undefined || group <= 1)
      signalProcess(life, 'SIGINT') // -1 would be everybody.
    else process.kill(-group, 'SIGINT')
  }

  async terminate(ref: AttemptRef): Promise<void> {
    for (const row of await findTree(this.#tree(ref))) signalProcess(row, 'SIGTERM')
  }

  async sweep(ref: AttemptRef, options: { force: boolean }): Promise<void> {
    this.#noteSweep(ref)
    await endTree(this.#tree(ref), { grace: options.force ? 0 : POLITE_GRACE, limit: SWEEP_LIMIT })
    if (ref.mode === 'tty') await this.#drain(ref)
    await this.#endShim(ref)
  }

  async close(ref: AttemptRef): Promise<void> {
    await this.#panes.close(ref)
    this.watch(ref, false)
    this.heard(ref)
    for (const suffix of ['', '.lock'])
      fs.rmSync(`${terminalSocket(this.#home, ref.sessionId)}${suffix}`, { force: true })
  }

  async mend(live: readonly (AttemptRef & { show: LaunchOrder['show'] })[]): Promise<void> {
    if (live.length === 0) return
    const open = await this.#panes.sessions()
    for (const ref of live) {
      if (!open.has(ref.name)) await this.#panes.openView(ref, this.#shown(ref, ref.show))
      if (ref.mode === 'tty') await this.#mendRecording(ref)
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
    const key = attemptId(ref.sessionId, ref.attempt)
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
    this.#mailbox?.empty(attemptId(ref.sessionId, ref.attempt))
  }

  shutDown(): void {
    this.#mailbox?.close()
    for (const watcher of this.#watched.values()) watcher.close()
    this.#watched.clear()
  }

  #layDown(order: LaunchOrder, folder: AttemptFolder): void {
    fs.mkdirSync(folder.root, { recursive: true, mode: 0o700 })
    for (const file of [folder.stdout, folder.stderr]) fs.closeSync(fs.openSync(file, 'a', 0o600))
    const session = sessionFolder(this.#home, order.sessionId)
    if (order.stdin === 'prompt') {
      fs.rmSync(folder.stdin, { force: true })
      fs.linkSync(session.prompt, folder.stdin)
    } else if (order.stdin !== undefined) {
      replaceFile(folder.stdin, order.stdin)
    }
    // An agent that runs `tmux kill-server` must hit nobody, least of all its user.
    const {
      TMUX: _,
      TMUX_PANE: __,
      ...saved
    } = JSON.parse(fs.readFileSync(session.env, 'utf8')) as Record<string, string>
    const marker = attemptId(order.sessionId, order.attempt)
    const env = { ...saved, ...terminalOf(order), ...order.env, ONESHOT_ATTEMPT: marker, ONESHOT_SESSION: order.name }
    const letter = path.join(this.#home.mailbox, marker)
    replaceFile(folder.launch, launchFile(order, { folder, letter, env }))
  }

  /** A recorder that was killed leaves a gap; the terminal's own memory fills it as far as it reaches. */
  async #mendRecording(ref: AttemptRef): Promise<void> {
    const folder = this.#folder(ref)
    const recorder = readRecorder(folder)
    if (recorder === null || readExit(folder) !== null || lives(recorder) !== 'dead') return
    await this.#fillGap(ref)
    await this.#panes.restartRecorder(ref)
  }

  async #fillGap(ref: AttemptRef): Promise<void> {
    const { stdout } = this.#folder(ref)
    const lines = missingLines(stdout, await this.#panes.history(ref))
    if (lines.length > 0) fs.appendFileSync(stdout, `\r\n${lines.join('\r\n')}\r\n`)
  }

  /** Waits until the recorder has written the last byte: the shim's closing mark is behind it. Then takes the mark away. */
  async #drain(ref: AttemptRef): Promise<void> {
    const folder = this.#folder(ref)
    const mark = Buffer.from(CLOSING_MARK)
    let size = -1
    for (let idle = 0; idle < DRAIN_LOOKS; idle++) {
      const recorder = readRecorder(folder)
      const now = fs.statSync(folder.stdout, { throwIfNoEntry: false })?.size ?? 0
      const tail = this.#recorded(ref, Math.max(0, now - mark.length), mark.length)
      if (tail.equals(mark)) return fs.truncateSync(folder.stdout, now - mark.length)
      if (recorder === null) return
      if (lives(recorder) === 'dead') return this.#fillGap(ref)
      if (now !== size) idle = 0
      size = now
      await pause(20)
    }
  }

  /** The shim has written its record and waits to be heard, or it never got to start the program. */
  async #endShim(ref: AttemptRef): Promise<void> {
    const shim = readClaim(this.#folder(ref)) ?? this.#claimForNobody(ref)
    if (shim === null) return
    const hasConcluded = await this.#untilConcluded(ref, shim)
    const { marker } = this.#tree(ref)
    await endTree({ marker, root: shim }, { grace: hasConcluded ? 1_000 : 0, limit: SWEEP_LIMIT })
  }

  /** From now on nothing of the attempt begins: its launch file looks for this note before it becomes the program. */
  #noteSweep(ref: AttemptRef): void {
    const folder = this.#folder(ref)
    fs.mkdirSync(folder.root, { recursive: true, mode: 0o700 })
    isFirst(folder.swept)
  }

  /** A shim whose program has just ended needs a moment to write down how. */
  async #untilConcluded(ref: AttemptRef, shim: ProcessId): Promise<boolean> {
    const folder = this.#folder(ref)
    for (let look = 0; look < CONCLUDE_LOOKS && lives(shim) === 'alive'; look++) {
      const life = readStarted(folder)
      if (readExit(folder) !== null || life === null || lives(life) === 'alive') break
      await pause(10)
    }
    return readExit(folder) !== null
  }

  /** No shim has taken the attempt: now none can, however late it comes. */
  #claimForNobody(ref: AttemptRef): ProcessId | null {
    const folder = this.#folder(ref)
    try {
      fs.writeFileSync(folder.claim, '0 nobody\nend\n', { flag: 'wx', mode: 0o600 })
      return null
    } catch (cause) {
      if (!hasCode(cause, 'EEXIST')) throw cause
      return readClaim(folder)
    }
  }

  #tree(ref: AttemptRef): Tree {
    const life = readStarted(this.#folder(ref))
    const root: ProcessId | null = life === null || life.boot !== bootId ? null : life
    return { marker: attemptId(ref.sessionId, ref.attempt), root }
  }

  #shown(ref: AttemptRef, show: LaunchOrder['show']): string {
    return show === 'transcript' ? sessionFolder(this.#home, ref.sessionId).transcript : this.#folder(ref).stdout
  }

  #folder(ref: AttemptRef): AttemptFolder {
    return attemptFolder(this.#home, ref.sessionId, ref.attempt)
  }
}

/** Holds the mark back, also while it is just being recorded. */
function withoutClosingMark(bytes: Buffer): Buffer {
  for (let length = Math.min(CLOSING_MARK.length, bytes.length); length > 0; length--) {
    if (bytes.subarray(-length).toString('latin1') === CLOSING_MARK.slice(0, length)) return bytes.subarray(0, -length)
  }
  return bytes
}

/** Leaves a note where there was none. Many programs take a second Ctrl-C for "at once, saving nothing". */
function isFirst(note: string): boolean {
  try {
    fs.writeFileSync(note, '', { flag: 'wx', mode: 0o600 })
    return true
  } catch (cause) {
    if (hasCode(cause, 'EEXIST')) return false
    throw cause
  }
}

/** Inside tmux the terminal is tmux's, whatever the user's own was. */
function terminalOf(order: LaunchOrder): Record<string, string> {
  return order.mode === 'tty' ? { TERM: 'screen-256color' } : {}
}
