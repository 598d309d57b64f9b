import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { childrenOf, isAlive } from '../measure/proc.ts'
import { waitUntil } from '../measure/wait-until.ts'
import type { ProductClone } from '../product/clone.ts'
import { waitForExit } from './wait-for-exit.ts'

/** runsvdir with one runsv for each copy of a program. */
export class Runit {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(
    program: string,
    clone: ProductClone,
    { name, command, copies }: { name: string; command: string; copies: number },
  ): Promise<Runit> {
    const folder = path.join(clone.root, name)
    for (let copy = 0; copy < copies; copy++) {
      const service = path.join(folder, `bench-${copy}`)
      fs.mkdirSync(service, { recursive: true })
      fs.writeFileSync(path.join(service, 'run'), `#!/bin/sh\nexec ${command}\n`, { mode: 0o755 })
    }
    const child = spawn(program, [folder], { env: clone.env, cwd: folder, stdio: 'ignore' })
    const runit = new Runit(child)
    await waitUntil('runit has started all', () => {
      return childrenOf(...runit.keepers()).length === copies ? true : undefined
    })
    return runit
  }

  /** Returns the runsv processes, one for each program. */
  keepers(): number[] {
    return childrenOf(this.daemon())
  }

  daemon(): number {
    return this.#child.pid as number
  }

  /** On SIGHUP runsvdir makes every runsv end its program, and exits. */
  async close(): Promise<void> {
    const keepers = this.keepers()
    this.#child.kill('SIGHUP')
    await waitForExit(this.#child)
    await waitUntil('runit has ended all', () => (keepers.some(isAlive) ? undefined : true))
  }
}
