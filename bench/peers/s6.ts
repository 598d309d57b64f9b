import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { childrenOf, isAlive } from '../measure/proc.ts'
import { waitUntil } from '../measure/wait-until.ts'
import type { ProductClone } from '../product/clone.ts'
import { waitForExit } from './wait-for-exit.ts'

/** s6-svscan with one s6-supervise for one program. */
export class S6 {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(
    program: string,
    clone: ProductClone,
    { name, command }: { name: string; command: string },
  ): Promise<S6> {
    const folder = path.join(clone.root, name)
    const service = path.join(folder, 'bench')
    fs.mkdirSync(service, { recursive: true })
    fs.writeFileSync(path.join(service, 'run'), `#!/bin/sh\nexec ${command}\n`, { mode: 0o755 })
    const child = spawn(program, [folder], { env: clone.env, cwd: folder, stdio: 'ignore' })
    const s6 = new S6(child)
    await waitUntil('s6 has started its program', () => (childrenOf(...s6.keepers()).length === 1 ? true : undefined))
    return s6
  }

  /** Returns the s6-supervise process of the program. */
  keepers(): number[] {
    return childrenOf(this.#child.pid as number)
  }

  /** On SIGTERM s6-svscan ends every program and exits. */
  async close(): Promise<void> {
    const keepers = this.keepers()
    this.#child.kill('SIGTERM')
    await waitForExit(this.#child)
    await waitUntil('s6 has ended its program', () => (keepers.some(isAlive) ? undefined : true))
  }
}
