import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { childrenOf, isAlive } from '../measure/proc.ts'
import { until } from '../measure/until.ts'
import type { Stage } from '../product/stage.ts'
import { ended } from './ended.ts'

/** runsvdir with one runsv for each copy of a program. */
export class Runit {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(
    program: string,
    stage: Stage,
    { name, command, copies }: { name: string; command: string; copies: number },
  ): Promise<Runit> {
    const folder = path.join(stage.root, name)
    for (let copy = 0; copy < copies; copy++) {
      const service = path.join(folder, `bench-${copy}`)
      fs.mkdirSync(service, { recursive: true })
      fs.writeFileSync(path.join(service, 'run'), `#!/bin/sh\nexec ${command}\n`, { mode: 0o755 })
    }
    const child = spawn(program, [folder], { env: stage.env, cwd: folder, stdio: 'ignore' })
    const runit = new Runit(child)
    await until('runit has started all', () => {
      return childrenOf(...runit.keepers()).length === copies ? true : undefined
    })
    return runit
  }

  /** One runsv for each program. */
  keepers(): number[] {
    return childrenOf(this.daemon())
  }

  daemon(): number {
    return this.#child.pid as number
  }

  /** On SIGHUP it tells every runsv to end its program, and goes. */
  async close(): Promise<void> {
    const keepers = this.keepers()
    this.#child.kill('SIGHUP')
    await ended(this.#child)
    await until('runit has ended all', () => (keepers.some(isAlive) ? undefined : true))
  }
}
