import { type ChildProcess, spawn } from 'node:child_process'
import path from 'node:path'
import { run } from '../../../src/world/os/run.ts'
import { type Dice, pick } from '../dice.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { Theatre } from '../stage/theatre.ts'

/** So many look on at any time, half of them in a terminal. */
const MANY = 4

/** People who look at sessions. They leave when theirs has ended, and look at another. */
export class Viewers {
  readonly #theatre: Theatre
  readonly #fleet: Fleet
  readonly #roll: Dice
  readonly #following = new Set<ChildProcess>()
  readonly #socket: string

  constructor(theatre: Theatre, fleet: Fleet, roll: Dice) {
    this.#theatre = theatre
    this.#fleet = fleet
    this.#roll = roll
    this.#socket = path.join(theatre.root, 'viewers.sock')
  }

  /** Who looks on; somebody new comes for each that is missing. */
  async pids(): Promise<number[]> {
    const attached = await this.#attached()
    if (this.#following.size < MANY / 2) this.#follow()
    if (attached.length < MANY / 2) await this.#attach()
    return [...[...this.#following].flatMap(({ pid }) => pid ?? []), ...attached]
  }

  async close(): Promise<void> {
    for (const viewer of this.#following) viewer.kill('SIGKILL')
    await this.#tmux('kill-server')
  }

  #follow(): void {
    const { main, env, project } = this.#theatre
    const story = pick(this.#fleet.live, this.#roll())
    if (story === undefined) return
    const viewer = spawn(process.execPath, [main, 'follow', story.name], { env, cwd: project, stdio: 'ignore' })
    this.#following.add(viewer)
    viewer.once('exit', () => this.#following.delete(viewer))
    viewer.once('error', () => this.#following.delete(viewer))
  }

  async #attach(): Promise<void> {
    const story = pick(this.#fleet.live, this.#roll())
    if (story === undefined) return
    await this.#tmux('new-session', '-d', process.execPath, this.#theatre.main, 'attach', story.name)
  }

  async #attached(): Promise<number[]> {
    const { stdout } = await this.#tmux('list-panes', '-a', '-F', '#{pane_pid}')
    return stdout.split('\n').filter(Boolean).map(Number)
  }

  #tmux(...args: string[]): ReturnType<typeof run> {
    const { env, project } = this.#theatre
    return run('tmux', ['-S', this.#socket, '-f', '/dev/null', ...args], { env, cwd: project, timeout: 10_000 })
  }
}
