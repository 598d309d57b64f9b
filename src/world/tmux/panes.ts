import fs from 'node:fs'
import path from 'node:path'
import { quote } from '../../lib/quote.ts'
import { Trouble } from '../../lib/trouble.ts'
import type { AttemptRef, LaunchOrder } from '../../ports/work.ts'
import { makeGroup } from '../os/control-group.ts'
import { attemptFolder, attemptId, terminalSocket } from '../os/folders.ts'
import type { Home } from '../os/home.ts'
import { identify, lives, type ProcessId } from '../os/processes.ts'
import type { Tmux } from './tmux.ts'

const SIZE = ['-x', '200', '-y', '50'] as const
/** A command that opens something says so. */
const TELL = ['-P', '-F', '#{pid}'] as const
/** What tmux says when the session or its whole server is gone or just going. */
const NOT_THERE =
  /can't find|no current|no sessions|no server running|error connecting|No such file|session not found|lost server|server exited/

/** An attempt whose pane is opened, and the memory it may use. */
type Opening = Pick<LaunchOrder, keyof AttemptRef | 'memory'>

/**
 * The windows people look through. The shared server shows every session under its name; a terminal session's tty
 * belongs to a server of its own, so that killing the shared one closes a window and no work.
 */
export class Panes {
  readonly #home: Home
  readonly #findTmux: () => Promise<Tmux>
  readonly #shim: string
  readonly #recorder: string
  #found: Promise<Tmux> | undefined
  #server: ProcessId | undefined

  constructor(home: Home, findTmux: () => Promise<Tmux>, programs: { shim: string; recorder: string }) {
    this.#home = home
    this.#findTmux = findTmux
    this.#shim = programs.shim
    this.#recorder = programs.recorder
  }

  /** The name of the program that shims run by now. */
  get shimProgram(): string {
    return path.basename(this.#shim)
  }

  /** Refuses when there is no tmux, or one too old. */
  async assertReady(): Promise<void> {
    await this.#tmux()
  }

  /** Whether the shared server, once seen, has died since. Costs one read of /proc. */
  hasLostServer(): boolean {
    if (this.#server === undefined || lives(this.#server) !== 'dead') return false
    this.#server = undefined
    return true
  }

  /** Starts the shim in a pane of the session; beside the others when somebody holds the session open. */
  async openHeadless(ref: Opening, show: string): Promise<void> {
    const shim = await this.#shimCommand(ref)
    const window = ['new-window', '-d', ...TELL, '-t', `=${ref.name}:`, '-n', 'work', ...shim]
    await opened(async () => (await this.#newSession(ref, show, shim)) || (await this.#shared(window, NOT_THERE)))
  }

  /** Starts the shim on a tty of its own whose output is recorded from the first byte. */
  async openTerminal(ref: Opening): Promise<void> {
    const begin = ['-n', windowOf(ref), ...(await this.#shimCommand(ref)), ';', ...this.#record(ref), ';', ...gate(ref)]
    const session = ['new-session', '-d', ...TELL, '-s', ref.name, ...SIZE, ...begin, ';', ...identified(ref)]
    const window = ['new-window', '-d', ...TELL, '-t', `=${ref.name}:`, ...begin]
    await opened(async () => {
      if ((await this.#own(ref, session, /duplicate session/)) !== '') return true
      const windows = await this.#own(ref, ['list-windows', '-t', `=${ref.name}`, '-F', '#{window_name}'], NOT_THERE)
      if (!windows.split('\n').includes(windowOf(ref)))
        return windows !== '' && (await this.#own(ref, window, NOT_THERE))
      await this.openGate(ref)
      return true
    })
  }

  /** The attempt has its pane, but the supervisor may have died before it opened the gate. */
  async openGate(ref: AttemptRef): Promise<void> {
    const isRecorded = await this.#own(ref, ['display-message', '-p', '-t', paneOf(ref), '#{pane_pipe}'], NOT_THERE)
    const record = isRecorded.trim() === '1' ? [] : [...this.#record(ref), ';']
    await this.#own(ref, [...record, ...gate(ref)], NOT_THERE)
  }

  /** All the terminal still remembers, as plain lines. */
  async history(ref: AttemptRef): Promise<string[]> {
    return linesOf(await this.#own(ref, capture(ref), NOT_THERE))
  }

  /** The same, and from there on it is recorded again: tmux does both in one go, so that nothing falls between them. */
  async recordAgain(ref: AttemptRef): Promise<string[] | null> {
    const isThere = (await this.#own(ref, ['list-panes', '-t', paneOf(ref), '-F', 'yes'], NOT_THERE)) !== ''
    return isThere ? linesOf(await this.#own(ref, [...capture(ref), ';', ...this.#record(ref)], NOT_THERE)) : null
  }

  /** Shows a session that has no pane on the shared server: its terminal, or a place where its transcript can be seen. */
  async openView(ref: AttemptRef, show: string): Promise<void> {
    if (ref.mode === 'tty') {
      const { program } = await this.#tmux()
      // That server has one session. Its name is not an argument here, because every user can read argument lists.
      const attach = ['env', '-u', 'TMUX', program, '-S', terminalSocket(this.#home, ref.sessionId), 'attach']
      await this.#newSession(ref, '', attach)
    } else {
      await this.#newSession(ref, show, ['cat'])
    }
  }

  /** Whoever attaches from now on sees this. */
  async showInstead(ref: AttemptRef, show: string): Promise<void> {
    await this.#shared(['set-environment', '-t', `=${ref.name}`, 'ONESHOT_SHOW', show], NOT_THERE)
  }

  async close(ref: AttemptRef): Promise<void> {
    await this.#shared(['kill-session', '-t', `=${ref.name}`], NOT_THERE)
    if (ref.mode === 'tty') await this.#own(ref, ['kill-server'], NOT_THERE)
  }

  /** The terminals of everybody who is attached to a session right now. */
  async audience(): Promise<string[]> {
    const clients = ['list-clients', '-F', '#{client_tty}']
    const shared = await this.#shared(clients, NOT_THERE)
    // What shows a terminal session on the shared server is attached to it, too, and nobody sits there.
    const panes = new Set((await this.#shared(['list-panes', '-a', '-F', '#{pane_tty}'], NOT_THERE)).split('\n'))
    const own: string[] = []
    for (const name of fs.readdirSync(this.#home.terminals)) {
      const socket = path.join(this.#home.terminals, name)
      own.push(await (await this.#tmux()).command(socket, this.#home.tmuxConfig, clients, NOT_THERE))
    }
    return [shared, ...own].flatMap(text => text.split('\n')).filter(tty => tty !== '' && !panes.has(tty))
  }

  /** The names on the shared server. */
  async sessions(): Promise<Set<string>> {
    const rows = await this.#shared(['list-sessions', '-F', '#{pid} #{session_name}'], NOT_THERE)
    const words = rows
      .split('\n')
      .filter(row => row !== '')
      .map(row => row.split(' '))
    this.#rememberServer(words[0]?.[0])
    return new Set(words.map(([, name]) => name ?? ''))
  }

  /** Opens a session on the shared server; false when it is there already. */
  async #newSession(ref: AttemptRef, show: string, command: readonly string[]): Promise<boolean> {
    const { name } = ref
    const create = ['new-session', '-d', ...TELL, '-s', name, '-n', 'work', ...SIZE, '-e', `ONESHOT_SHOW=${show}`]
    const isShown = ['set-option', '-t', `=${name}:`, '@show', 'yes', ';', 'select-pane', '-d', '-t', `=${name}:`]
    const server = await this.#shared(
      [...create, ...command, ';', ...identified(ref), ...(show === '' ? [] : [';', ...isShown])],
      /duplicate session/,
    )
    this.#rememberServer(server.trim())
    return server !== ''
  }

  #rememberServer(pid: string | undefined): void {
    if (pid) this.#server = identify(Number(pid))
  }

  async #shimCommand(ref: Opening): Promise<string[]> {
    const { program } = await this.#tmux()
    const group = makeGroup(attemptId(ref.sessionId, ref.attempt), ref.memory) ?? ''
    return ['sh', this.#shim, this.#home.root, ref.sessionId, String(ref.attempt), ref.mode, program, group]
  }

  /** tmux expands `#` formats and strftime's `%` in this argument before a shell reads it. */
  #record(ref: AttemptRef): string[] {
    const folder = attemptFolder(this.#home, ref.sessionId, ref.attempt).root
    const command = `exec sh ${quote(this.#recorder)} ${quote(folder)}`
    return ['pipe-pane', '-O', '-t', paneOf(ref), command.replaceAll('#', '##').replaceAll('%', '%%')]
  }

  async #shared(args: readonly string[], tolerate?: RegExp): Promise<string> {
    return (await this.#tmux()).command(this.#home.tmuxSocket, this.#home.tmuxConfig, args, tolerate)
  }

  async #own(ref: AttemptRef, args: readonly string[], tolerate?: RegExp): Promise<string> {
    return (await this.#tmux()).command(
      terminalSocket(this.#home, ref.sessionId),
      this.#home.tmuxConfig,
      args,
      tolerate,
    )
  }

  /** Found once; a search that failed is repeated, because tmux may be installed meanwhile. */
  #tmux(): Promise<Tmux> {
    this.#found ??= this.#findTmux().catch(cause => {
      this.#found = undefined
      throw cause
    })
    return this.#found
  }
}

/** Opening can meet a session that is just closing: then the next time finds it gone. */
async function opened(open: () => Promise<boolean | string>): Promise<void> {
  for (let times = 1; times <= 5; times++) if (await open()) return
  throw new Trouble('opening a pane', 'its session closed again and again')
}

/** The status line finds the session's caption by this: the name would be an argument of what reads it. */
function identified(ref: AttemptRef): string[] {
  return ['set-option', '-t', `=${ref.name}:`, '@id', ref.sessionId]
}

/** A terminal's window carries its attempt, so that a late one is not taken for it. */
function windowOf(ref: AttemptRef): string {
  return `attempt-${ref.attempt}`
}

function paneOf(ref: AttemptRef): string {
  return `=${ref.name}:=${windowOf(ref)}`
}

function capture(ref: AttemptRef): string[] {
  return ['capture-pane', '-p', '-J', '-S', '-', '-t', paneOf(ref)]
}

function linesOf(captured: string): string[] {
  const text = captured.trimEnd()
  return text === '' ? [] : text.split('\n')
}

function gate(ref: AttemptRef): string[] {
  return ['wait-for', '-S', `gate-${ref.attempt}`]
}
