import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { processesWith } from '../../../bench/measure/proc.ts'
import { cloneProduct, type ProductClone } from '../../../bench/product/clone.ts'
import { type Home, homeAt } from '../../../src/state/home.ts'
import { ShiftedClock } from './shifted-clock.ts'
import { StateDisk } from './state-disk.ts'

/** A clone of the product with the chaos agent, a home, a project and a user's own files. Always `close` it. */
export class ChaosEnvironment {
  readonly home: Home
  readonly project: string
  /** Folder of the agents' journals and threads, outside of oneshot's folders. */
  readonly journals: string
  readonly disk: StateDisk
  readonly clock: ShiftedClock
  /** File that records every write into the database's journal: process and time. */
  readonly witness: string
  /** Files kept from a run that broke a promise. */
  readonly evidence: string
  readonly env: NodeJS.ProcessEnv
  readonly #clone: ProductClone

  constructor(repository: string, agent: string) {
    this.#clone = cloneProduct(repository)
    const at = (name: string): string => path.join(this.root, name)
    fs.copyFileSync(agent, path.join(path.dirname(this.#clone.main), 'demo-agent.cjs'))
    for (const name of ['project', 'journals', 'threads', 'evidence']) fs.mkdirSync(at(name))
    this.home = homeAt(at('home'))
    this.project = at('project')
    this.journals = at('journals')
    this.evidence = at('evidence')
    this.witness = path.join(this.evidence, 'witness')
    this.disk = StateDisk.at(this.home.root)
    this.clock = new ShiftedClock(this.root, repository)
    // Real agents also keep their threads outside of oneshot's folders.
    fs.symlinkSync(at('threads'), path.join(this.home.root, 'demo'))
    this.env = { ...this.#clone.env, ONESHOT_HOME: this.home.root, ...this.clock.preload(this.witness) }
  }

  get root(): string {
    return this.#clone.root
  }

  /** Returns the version of the clone. */
  get version(): string {
    const file = path.join(path.dirname(path.dirname(this.main)), 'package.json')
    return (JSON.parse(fs.readFileSync(file, 'utf8')) as { version: string }).version
  }

  get main(): string {
    return this.#clone.main
  }

  journalOf(task: string): string {
    return path.join(this.journals, task)
  }

  /** Lists all living processes of this run. */
  processes(): { pid: number; command: string }[] {
    return processesWith(this.root)
  }

  /** Ends all living processes; keeps the folder for inspection on request. */
  close(options: { keep: boolean }): void {
    for (const { pid } of this.processes()) kill(pid)
    if (options.keep) this.#keepState()
    this.disk.remove()
    if (!options.keep) fs.rmSync(this.root, { recursive: true, force: true })
  }

  /** Copies the state out of the disk, which is removed with its content. */
  #keepState(): void {
    if (this.disk.isSmall)
      spawnSync('cp', ['-a', this.home.root, path.join(this.evidence, 'home')], { stdio: 'ignore' })
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has ended meanwhile.
  }
}
