import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { childrenOf } from '../measure/proc.ts'
import { waitUntil } from '../measure/wait-until.ts'
import type { ProductClone } from '../product/clone.ts'
import { waitForExit } from './wait-for-exit.ts'

/** supervisord in the foreground, with one program in any number of copies. */
export class Supervisord {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(
    program: string,
    clone: ProductClone,
    { name, command, copies, log = 'NONE' }: { name: string; command: string; copies: number; log?: string },
  ): Promise<Supervisord> {
    const folder = path.join(clone.root, name)
    fs.mkdirSync(folder, { recursive: true })
    const file = path.join(folder, 'supervisord.conf')
    fs.writeFileSync(file, configuration(folder, { command, copies, log }))
    const child = spawn(program, ['-n', '-c', file], { env: clone.env, cwd: folder, stdio: 'ignore' })
    const supervisord = new Supervisord(child)
    await waitUntil('supervisord has started all', () =>
      childrenOf(supervisord.daemon()).length === copies ? true : undefined,
    )
    return supervisord
  }

  daemon(): number {
    return this.#child.pid as number
  }

  async close(): Promise<void> {
    this.#child.kill('SIGTERM')
    await waitForExit(this.#child)
  }
}

function configuration(
  folder: string,
  { command, copies, log }: { command: string; copies: number; log: string },
): string {
  return `[supervisord]
logfile=${folder}/log
pidfile=${folder}/pid
childlogdir=${folder}

[program:bench]
command=${command}
process_name=%(program_name)s_%(process_num)d
numprocs=${copies}
autorestart=true
stdout_logfile=${log}
stderr_logfile=NONE
`
}
