import { spawnSync } from 'node:child_process'
import os from 'node:os'

/** Properties of the machine that affect the figures, without its name. */
export interface Machine {
  readonly date: string
  readonly cores: number
  readonly memory: string
  readonly system: string
  readonly node: string
  readonly tmux: string
  /** Load by other programs at the start, and the benchmark's own priority. */
  readonly load: string
  /** True for the quick run with few samples. */
  readonly isQuick: boolean
}

export function describeMachine(isQuick: boolean): Machine {
  return {
    date: new Date().toISOString().slice(0, 10),
    cores: os.availableParallelism(),
    memory: `${Math.round(os.totalmem() / 2 ** 30)} GB`,
    system: `${os.type()} ${os.release().split('-')[0]} ${os.arch()}`,
    node: process.version,
    tmux: spawnSync('tmux', ['-V'], { encoding: 'utf8' }).stdout.trim(),
    isQuick,
    load: `load ${(os.loadavg()[0] ?? 0).toFixed(1)} at the start${priority()}`,
  }
}

function priority(): string {
  const nice = os.getPriority()
  return nice === 0 ? '' : ` (everything measured ran at nice ${nice})`
}
