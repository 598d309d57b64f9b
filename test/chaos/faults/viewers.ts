import { type ChildProcess, spawn } from 'node:child_process'
import path from 'node:path'
import { run } from '../../../src/os/run.ts'
import { type RandomSource, pick } from '../../../testkit/system/seeded-random.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { ChaosEnvironment } from '../environment/chaos-environment.ts'

/** Number of viewers at any time; half of them are attached to a terminal. */
const MANY = 4

/** Users who watch sessions. Each watches another session when the first has ended. */
export class Viewers {
  readonly #theatre: ChaosEnvironment
  readonly #fleet: Fleet
  readonly #roll: RandomSource
  readonly #following = new Set<ChildProcess>()
  readonly #socket: string

  constructor(environment: ChaosEnvironment, fleet: Fleet, random: RandomSource) {
    this.#theatre = environment
    this.#fleet = fleet
    this.#roll = random
    this.#socket = path.join(environment.root, 'viewers.sock')
  }

  /** Returns the viewers' pids; starts a new viewer for each missing one. */
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
    const session = pick(this.#fleet.live, this.#roll())
    if (session === undefined) return
    const viewer = spawn(process.execPath, [main, 'follow', session.name], { env, cwd: project, stdio: 'ignore' })
    this.#following.add(viewer)
    viewer.once('exit', () => this.#following.delete(viewer))
    viewer.once('error', () => this.#following.delete(viewer))
  }

  async #attach(): Promise<void> {
    const session = pick(this.#fleet.live, this.#roll())
    if (session === undefined) return
    await this.#tmux('new-session', '-d', process.execPath, this.#theatre.main, 'attach', session.name)
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
