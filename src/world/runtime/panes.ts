import fs from 'node:fs'
import path from 'node:path'
import { quoteShellWord } from '../../lib/text/shell-words.ts'
import { Trouble } from '../../lib/errors.ts'
import type { AttemptRef, LaunchSpec } from '../../ports/runtime.ts'
import { createCgroup } from '../../os/cgroup.ts'
import { attemptFolder, attemptId, terminalSocket } from '../../state/session-folder.ts'
import type { Home } from '../../state/home.ts'
import { identifyProcess, checkLiveness, type ProcessId } from '../../os/process/processes.ts'
import type { Tmux } from './tmux-client.ts'

const WINDOW_SIZE = ['-x', '200', '-y', '50'] as const
/** Makes a tmux command that opens a session or window print the pid of the server. */
const PRINT_SERVER_PID = ['-P', '-F', '#{pid}'] as const
/** Matches tmux's errors for a session or server that is gone or is just exiting. */
const NOT_FOUND_ERROR =
  /can't find|no current|no sessions|no server running|error connecting|No such file|session not found|lost server|server exited/

/** The attempt that needs a pane, and its memory limit. */
type PaneRequest = Pick<LaunchSpec, keyof AttemptRef | 'memory'>

/**
 * Opens and closes the tmux sessions that people attach to. The shared server shows every session under its name. The
 * tty of a terminal session belongs to a separate server, so that killing the shared server closes a view and ends no
 * work.
 */
export class Panes {
  readonly #home: Home
  readonly #findTmux: () => Promise<Tmux>
  readonly #shim: string
  readonly #recorder: string
  #foundTmux: Promise<Tmux> | undefined
  #server: ProcessId | undefined

  constructor(home: Home, findTmux: () => Promise<Tmux>, programs: { shim: string; recorder: string }) {
    this.#home = home
    this.#findTmux = findTmux
    this.#shim = programs.shim
    this.#recorder = programs.recorder
  }

  /** The file name of the shim program that new shims run. */
  get shimProgram(): string {
    return path.basename(this.#shim)
  }

  /** Refuses if tmux is missing or too old. */
  async assertReady(): Promise<void> {
    await this.#tmux()
  }

  /** Returns true if the shared server has died since this object last saw it. Costs one read of /proc. */
  hasLostServer(): boolean {
    if (this.#server === undefined || checkLiveness(this.#server) !== 'dead') return false
    this.#server = undefined
    return true
  }

  /** Starts the shim in a pane of the session. If the session is still open, the shim gets a new window in it. */
  async openHeadless(ref: PaneRequest, show: string): Promise<void> {
    const shim = await this.#shimCommand(ref)
    const window = ['new-window', '-d', ...PRINT_SERVER_PID, '-t', `=${ref.name}:`, '-n', 'work', ...shim]
    await openWithRetries(
      async () => (await this.#newSession(ref, show, shim)) || (await this.#runOnSharedServer(window, NOT_FOUND_ERROR)),
    )
  }

  /** Starts the shim on a tty of its own. The recorder gets the output from the first byte. */
  async openTerminal(ref: PaneRequest): Promise<void> {
    const begin = [
      '-n',
      windowName(ref),
      ...(await this.#shimCommand(ref)),
      ';',
      ...this.#recordCommand(ref),
      ';',
      ...signalStart(ref),
    ]
    const session = [
      'new-session',
      '-d',
      ...PRINT_SERVER_PID,
      '-s',
      ref.name,
      ...WINDOW_SIZE,
      ...begin,
      ';',
      ...setSessionId(ref),
    ]
    const window = ['new-window', '-d', ...PRINT_SERVER_PID, '-t', `=${ref.name}:`, ...begin]
    await openWithRetries(async () => {
      if ((await this.#runOnOwnServer(ref, session, /duplicate session/)) !== '') return true
      const windows = await this.#runOnOwnServer(
        ref,
        ['list-windows', '-t', `=${ref.name}`, '-F', '#{window_name}'],
        NOT_FOUND_ERROR,
      )
      if (!windows.split('\n').includes(windowName(ref)))
        return windows !== '' && (await this.#runOnOwnServer(ref, window, NOT_FOUND_ERROR))
      await this.releaseStart(ref)
      return true
    })
  }

  /** Lets an attempt start that has its pane: the supervisor may have died before it released the start. */
  async releaseStart(ref: AttemptRef): Promise<void> {
    const isRecorded = await this.#runOnOwnServer(
      ref,
      ['display-message', '-p', '-t', paneTarget(ref), '#{pane_pipe}'],
      NOT_FOUND_ERROR,
    )
    const record = isRecorded.trim() === '1' ? [] : [...this.#recordCommand(ref), ';']
    await this.#runOnOwnServer(ref, [...record, ...signalStart(ref)], NOT_FOUND_ERROR)
  }

  /** Returns the scrollback of the terminal as plain lines. */
  async captureHistory(ref: AttemptRef): Promise<string[]> {
    return toLines(await this.#runOnOwnServer(ref, captureCommand(ref), NOT_FOUND_ERROR))
  }

  /**
   * Returns the scrollback and starts a recorder. tmux runs both in one command sequence, so no output gets lost in
   * between.
   */
  async restartRecording(ref: AttemptRef): Promise<string[] | null> {
    const isThere =
      (await this.#runOnOwnServer(ref, ['list-panes', '-t', paneTarget(ref), '-F', 'yes'], NOT_FOUND_ERROR)) !== ''
    return isThere
      ? toLines(
          await this.#runOnOwnServer(ref, [...captureCommand(ref), ';', ...this.#recordCommand(ref)], NOT_FOUND_ERROR),
        )
      : null
  }

  /**
   * Opens a session on the shared server for an attempt that has none there: its terminal, or a view of its transcript.
   */
  async openView(ref: AttemptRef, show: string): Promise<void> {
    if (ref.mode === 'tty') {
      const { program } = await this.#tmux()
      // The server has one session. Its name is no argument here, because every user can read argument lists.
      const attach = ['env', '-u', 'TMUX', program, '-S', terminalSocket(this.#home, ref.sessionId), 'attach']
      await this.#newSession(ref, '', attach)
    } else {
      await this.#newSession(ref, show, ['cat'])
    }
  }

  /** Sets the file that clients see when they attach from now on. */
  async switchShownFile(ref: AttemptRef, show: string): Promise<void> {
    await this.#runOnSharedServer(['set-environment', '-t', `=${ref.name}`, 'ONESHOT_SHOW', show], NOT_FOUND_ERROR)
  }

  async close(ref: AttemptRef): Promise<void> {
    await this.#runOnSharedServer(['kill-session', '-t', `=${ref.name}`], NOT_FOUND_ERROR)
    if (ref.mode === 'tty') await this.#runOnOwnServer(ref, ['kill-server'], NOT_FOUND_ERROR)
  }

  /** Lists the terminals of all clients that are attached now. */
  async listAttachedTerminals(): Promise<string[]> {
    const clients = ['list-clients', '-F', '#{client_tty}']
    const fromSharedServer = await this.#runOnSharedServer(clients, NOT_FOUND_ERROR)
    // The pane that shows a terminal session on the shared server is a client too, but no person sits at it.
    const panes = new Set(
      (await this.#runOnSharedServer(['list-panes', '-a', '-F', '#{pane_tty}'], NOT_FOUND_ERROR)).split('\n'),
    )
    const fromOwnServers: string[] = []
    for (const name of fs.readdirSync(this.#home.terminals)) {
      const socket = path.join(this.#home.terminals, name)
      fromOwnServers.push(await (await this.#tmux()).command(socket, this.#home.tmuxConfig, clients, NOT_FOUND_ERROR))
    }
    return [fromSharedServer, ...fromOwnServers]
      .flatMap(text => text.split('\n'))
      .filter(tty => tty !== '' && !panes.has(tty))
  }

  /** Returns the names of the sessions on the shared server. */
  async listSessions(): Promise<Set<string>> {
    const rows = await this.#runOnSharedServer(['list-sessions', '-F', '#{pid} #{session_name}'], NOT_FOUND_ERROR)
    const words = rows
      .split('\n')
      .filter(row => row !== '')
      .map(row => row.split(' '))
    this.#recordServer(words[0]?.[0])
    return new Set(words.map(([, name]) => name ?? ''))
  }

  /** Opens a session on the shared server. Returns false if it already exists. */
  async #newSession(ref: AttemptRef, show: string, command: readonly string[]): Promise<boolean> {
    const { name } = ref
    const create = [
      'new-session',
      '-d',
      ...PRINT_SERVER_PID,
      '-s',
      name,
      '-n',
      'work',
      ...WINDOW_SIZE,
      '-e',
      `ONESHOT_SHOW=${show}`,
    ]
    const isShown = ['set-option', '-t', `=${name}:`, '@show', 'yes', ';', 'select-pane', '-d', '-t', `=${name}:`]
    const server = await this.#runOnSharedServer(
      [...create, ...command, ';', ...setSessionId(ref), ...(show === '' ? [] : [';', ...isShown])],
      /duplicate session/,
    )
    this.#recordServer(server.trim())
    return server !== ''
  }

  #recordServer(pid: string | undefined): void {
    if (pid) this.#server = identifyProcess(Number(pid))
  }

  async #shimCommand(ref: PaneRequest): Promise<string[]> {
    const { program } = await this.#tmux()
    const group = createCgroup(attemptId(ref.sessionId, ref.attempt), ref.memory) ?? ''
    return ['sh', this.#shim, this.#home.root, ref.sessionId, String(ref.attempt), ref.mode, program, group]
  }

  /** tmux expands `#` formats and strftime's `%` in this argument before a shell reads it. */
  #recordCommand(ref: AttemptRef): string[] {
    const folder = attemptFolder(this.#home, ref.sessionId, ref.attempt).root
    const command = `exec sh ${quoteShellWord(this.#recorder)} ${quoteShellWord(folder)}`
    return ['pipe-pane', '-O', '-t', paneTarget(ref), command.replaceAll('#', '##').replaceAll('%', '%%')]
  }

  async #runOnSharedServer(args: readonly string[], tolerate?: RegExp): Promise<string> {
    return (await this.#tmux()).command(this.#home.tmuxSocket, this.#home.tmuxConfig, args, tolerate)
  }

  async #runOnOwnServer(ref: AttemptRef, args: readonly string[], tolerate?: RegExp): Promise<string> {
    return (await this.#tmux()).command(
      terminalSocket(this.#home, ref.sessionId),
      this.#home.tmuxConfig,
      args,
      tolerate,
    )
  }

  /** Finds tmux once. Repeats a failed search, because the user may have installed tmux meanwhile. */
  #tmux(): Promise<Tmux> {
    this.#foundTmux ??= this.#findTmux().catch(cause => {
      this.#foundTmux = undefined
      throw cause
    })
    return this.#foundTmux
  }
}

/** Retries: the session may be about to close during one call, and is gone at the next. */
async function openWithRetries(open: () => Promise<boolean | string>): Promise<void> {
  for (let times = 1; times <= 5; times++) if (await open()) return
  throw new Trouble('opening a pane', 'its session closed again and again')
}

/**
 * Sets the id by which the status line finds the session's caption. The name would appear in the argument list of
 * `cat`.
 */
function setSessionId(ref: AttemptRef): string[] {
  return ['set-option', '-t', `=${ref.name}:`, '@id', ref.sessionId]
}

/** The window name contains the attempt number, so that a late command cannot act on the window of another attempt. */
function windowName(ref: AttemptRef): string {
  return `attempt-${ref.attempt}`
}

function paneTarget(ref: AttemptRef): string {
  return `=${ref.name}:=${windowName(ref)}`
}

function captureCommand(ref: AttemptRef): string[] {
  return ['capture-pane', '-p', '-J', '-S', '-', '-t', paneTarget(ref)]
}

function toLines(captured: string): string[] {
  const text = captured.trimEnd()
  return text === '' ? [] : text.split('\n')
}

function signalStart(ref: AttemptRef): string[] {
  return ['wait-for', '-S', `gate-${ref.attempt}`]
}
