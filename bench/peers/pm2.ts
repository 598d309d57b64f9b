import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { isAlive, processesWith } from '../measure/proc.ts'
import { type Command, timeCommand } from '../measure/time-command.ts'
import { waitUntil } from '../measure/wait-until.ts'
import type { ProductClone } from '../product/clone.ts'

export interface Pm2App {
  readonly name: string
  readonly script: string
  readonly args: readonly string[]
  /** File of the program's output; pm2's default when absent. */
  readonly out_file?: string
}

/** pm2 with a home of its own. Programs run in fork mode without an interpreter, as oneshot's commands do. */
export class Pm2 {
  readonly #program: string
  readonly #folder: string
  readonly #env: NodeJS.ProcessEnv
  #apps = 0

  constructor(program: string, clone: ProductClone, name: string) {
    this.#program = program
    this.#folder = path.join(clone.root, name)
    this.#env = { ...clone.env, PM2_HOME: this.#folder }
    fs.mkdirSync(this.#folder)
  }

  command(...args: string[]): Command {
    return { program: process.execPath, args: [this.#program, ...args], env: this.#env, cwd: this.#folder }
  }

  /** Runs a command without measuring it. */
  do(...args: string[]): void {
    timeCommand(this.command(...args))
  }

  start(apps: readonly Pm2App[]): void {
    const file = path.join(this.#folder, 'apps.json')
    const common = { interpreter: 'none', exec_mode: 'fork', cwd: this.#folder }
    fs.writeFileSync(file, JSON.stringify({ apps: apps.map(app => ({ ...app, ...common })) }))
    this.do('start', file)
  }

  /** Starts sleeping programs up to this count, like those of oneshot's fleets. */
  growTo(count: number): this {
    const missing = Array.from({ length: Math.max(0, count - this.#apps) }, (_, index) => this.#apps + index)
    if (missing.length > 0) {
      this.start(missing.map(number => ({ name: `sleep-${number}`, script: '/bin/sleep', args: ['100000'] })))
    }
    this.#apps = Math.max(count, this.#apps)
    return this
  }

  /** Returns the pid of pm2's supervisor. */
  daemon(): number {
    return Number(fs.readFileSync(path.join(this.#folder, 'pm2.pid'), 'utf8'))
  }

  online(): number[] {
    const { stdout } = spawnSync(process.execPath, [this.#program, 'jlist'], { env: this.#env, encoding: 'utf8' })
    const apps = JSON.parse(stdout.slice(stdout.indexOf('['))) as { pid: number; pm2_env: { status: string } }[]
    return apps.filter(app => app.pm2_env.status === 'online').map(app => app.pid)
  }

  /** Lists all living programs that were ever started here, whether pm2 knows them or not. */
  survivors(): number[] {
    return processesWith(`PM2_HOME=${this.#folder}`)
      .filter(({ command }) => command.endsWith('sleep 100000'))
      .map(({ pid }) => pid)
  }

  /**
   * Ends pm2 by signals, because `pm2 kill` takes three seconds. Kills the supervisor first, or it would restart the
   * programs.
   */
  async close(): Promise<void> {
    const daemon = fs.existsSync(path.join(this.#folder, 'pm2.pid')) ? this.daemon() : 0
    if (daemon > 0 && isAlive(daemon)) process.kill(daemon, 'SIGKILL')
    await waitUntil('pm2 is gone', () => (isAlive(daemon) ? undefined : true))
    for (const pid of this.survivors()) process.kill(pid, 'SIGKILL')
  }
}
