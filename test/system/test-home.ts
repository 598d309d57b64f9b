import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, TestRunner } from 'vitest'
import type { DaemonView, SessionView } from '../../src/api/contract/responses.ts'
import { attemptFolder } from '../../src/state/session-folder.ts'
import { type Home, homeAt } from '../../src/state/home.ts'
import { run } from '../../src/os/run.ts'
import { runInProcess } from '../../testkit/system/in-process-cli.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')

/** The built product; ONESHOT_DIST selects another build. */
export const MAIN = path.resolve(ROOT, process.env['ONESHOT_DIST'] ?? 'dist', 'main.cjs')
const PROGRAM = path.join(path.dirname(MAIN), 'program.cjs')

export interface CommandResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Differences from the home's own settings. */
export interface CallOptions {
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  readonly input?: Uint8Array
}

/**
 * A separate home, in which tests use the built product as a person or a program does. Its commands run in the test's
 * own process; its supervisor and its sessions are real processes. Always `close` it.
 */
export class TestHome {
  readonly root: string
  readonly home: Home
  readonly env: NodeJS.ProcessEnv
  readonly #firstEnv: NodeJS.ProcessEnv
  #projects = 0
  readonly #deferred: (() => Promise<unknown>)[] = []

  constructor(env: NodeJS.ProcessEnv = {}) {
    this.root = fs.mkdtempSync(path.join(os.tmpdir(), 'os-'))
    this.home = homeAt(path.join(this.root, 'home'))
    // The variables of the test run itself, such as ONESHOT_SEED, must not reach the sessions.
    const rest = Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOfTestRun(name)))
    const own = { ONESHOT_HOME: this.home.root, HOME: this.root, XDG_CONFIG_HOME: path.join(this.root, 'config') }
    this.#firstEnv = { ...rest, ...own, NO_COLOR: '1', ...env }
    this.env = { ...this.#firstEnv }
    fs.mkdirSync(this.project)
  }

  /** The folder in which commands run. */
  get project(): string {
    return path.join(this.root, this.#projects === 0 ? 'project' : `project-${this.#projects}`)
  }

  /**
   * Begins a test of a file that shares this home among its tests: the test gets an empty project, the environment of
   * the start, and no configuration.
   */
  beginTest(): void {
    this.#projects += 1
    fs.mkdirSync(this.project)
    for (const name of Object.keys(this.env)) delete this.env[name]
    Object.assign(this.env, this.#firstEnv)
    fs.rmSync(this.#firstEnv['XDG_CONFIG_HOME'] as string, { recursive: true, force: true })
  }

  /** Ends a test of a file that shares this home: stops and removes its sessions. The supervisor keeps running. */
  async endTest(): Promise<void> {
    if (!fs.existsSync(this.home.root)) return
    await this.#explainFailure()
    await this.oneshot('killall', '--yes')
    await this.oneshot('clean', '--yes')
  }

  /** Runs a command in this process, which saves a start of Node. */
  oneshot(...args: string[]): Promise<CommandResult> {
    return this.call(args, {})
  }

  call(args: readonly string[], { env, cwd, input }: CallOptions): Promise<CommandResult> {
    return runInProcess(PROGRAM, args, {
      cwd: cwd ?? this.project,
      env: { ...this.env, ...env },
      ...(input !== undefined && { input }),
    })
  }

  /** Runs a command as a process of its own. */
  spawn(args: readonly string[], { env, cwd, input }: CallOptions = {}): Promise<CommandResult> {
    return run(process.execPath, [MAIN, ...args], {
      cwd: cwd ?? this.project,
      env: { ...this.env, ...env },
      timeout: 60_000,
      ...(input !== undefined && { input }),
    })
  }

  /** Returns the path of a file in the project. */
  path(...names: string[]): string {
    return path.join(this.project, ...names)
  }

  /** Registers an action for `close`, which runs it after it has stopped all work; the last one runs first. */
  defer(undo: () => Promise<unknown>): void {
    this.#deferred.push(undo)
  }

  /** Runs a command and expects success. */
  async ok(...args: string[]): Promise<string> {
    const answer = await this.oneshot(...args)
    const { code } = answer
    expect({ code, ...(code !== 0 && answer) }, `oneshot ${args.join(' ')}`).toEqual({ code: 0 })
    return answer.stdout.trim()
  }

  async json<T>(...args: string[]): Promise<T> {
    const [command = '', ...rest] = args
    const words = command === 'daemon' ? [...args, '--json'] : [command, '--json', ...rest]
    return JSON.parse(await this.ok(...words)) as T
  }

  run(...args: string[]): Promise<SessionView> {
    return this.json<SessionView>('run', ...args)
  }

  status(name: string): Promise<SessionView> {
    return this.json<SessionView>('status', name)
  }

  list(): Promise<SessionView[]> {
    return this.json<SessionView[]>('list')
  }

  daemon(): Promise<DaemonView> {
    return this.json<DaemonView>('daemon', 'status')
  }

  /** Returns the pid of the server on the shared socket. */
  async tmuxServer(): Promise<number> {
    const { stdout } = await run('tmux', ['-S', this.home.tmuxSocket, 'list-sessions', '-F', '#{pid}'])
    return Number(stdout.split('\n')[0])
  }

  /** Returns the program's output, byte for byte. */
  output(session: SessionView, attempt = 1): Buffer {
    return fs.readFileSync(attemptFolder(this.home, session.id, attempt).stdout)
  }

  async ended(name: string, patience?: number): Promise<SessionView> {
    const look = async (): Promise<SessionView | undefined> => {
      const view = await this.status(name)
      return view.phase === 'ended' ? view : undefined
    }
    return waitUntil(`${name} has ended`, look, patience)
  }

  /** Waits until the demo agent of a session with `hang=N` in its prompt has fallen silent; it does so once. */
  async hangs(name: string): Promise<void> {
    await waitUntil(`the agent of ${name} hangs`, async () => {
      const file = path.join(this.home.root, 'demo', `${(await this.status(name)).thread}.jsonl`)
      return fs.existsSync(file) && fs.readFileSync(file, 'utf8').includes('"hang"') ? true : undefined
    })
  }

  /** Stops everything, and fails the test if a process of this home is still running. */
  async close(): Promise<void> {
    if (fs.existsSync(this.home.root)) {
      await this.#explainFailure()
      await this.oneshot('killall', '--yes')
      await this.oneshot('daemon', 'stop')
    }
    for (const undo of this.#deferred.toReversed()) await undo()
    const left = await waitUntil(
      'nothing is left running',
      async () => (processesOf(this.root).length === 0 ? [] : undefined),
      15_000,
    ).catch(() => processesOf(this.root))
    for (const row of left) kill(row.pid)
    fs.rmSync(this.root, { recursive: true, force: true })
    expect(left, 'processes left behind').toEqual([])
  }

  /** Prints the state after a failed test, because its folders are removed. */
  async #explainFailure(): Promise<void> {
    if (TestRunner.getCurrentTest()?.result?.state !== 'fail') return
    const { stdout } = await this.oneshot('list', '--json')
    const ids = fs.existsSync(this.home.sessions) ? fs.readdirSync(this.home.sessions) : []
    const files = [this.home.daemonLog, ...ids.map(id => path.join(this.home.sessions, id, 'loop', 'loop.json'))]
    const texts = files
      .filter(file => fs.existsSync(file))
      .map(file => `${file}\n${fs.readFileSync(file, 'utf8').slice(-20_000)}`)
    console.error([stdout.slice(0, 20_000), ...texts].join('\n\n'))
  }
}

/**
 * A home whose commands run as processes of their own, for tests that replace, damage or unmount the state folder: a
 * command in the test's own process leaves the database open.
 */
export class ProcessHome extends TestHome {
  override call(args: readonly string[], options: CallOptions): Promise<CommandResult> {
    return this.spawn(args, options)
  }
}

export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has ended meanwhile.
  }
}

/** Lists processes with the home's path in their command line or environment. */
export function processesOf(root: string): { pid: number; command: string }[] {
  return fs
    .readdirSync('/proc')
    .map(Number)
    .filter(pid => Number.isInteger(pid) && pid !== process.pid)
    .flatMap(pid => {
      try {
        const command = fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ')
        const environment = fs.readFileSync(`/proc/${pid}/environ`, 'latin1')
        return command.includes(root) || environment.includes(root) ? [{ pid, command }] : []
      } catch {
        return [] // The process has ended meanwhile.
      }
    })
}

export async function waitUntil<T>(
  what: string,
  ask: () => Promise<T | undefined> | T | undefined,
  patience = 30_000,
): Promise<T> {
  const end = Date.now() + patience
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    if (Date.now() > end) throw new Error(`waited ${patience / 1000} s in vain until ${what}`)
    await pause(25)
  }
}

export function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(fs.readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

function isOfTestRun(name: string): boolean {
  return name === 'NODE_EXTRA_CA_CERTS' || name === 'TMUX' || name.startsWith('ONESHOT_')
}
