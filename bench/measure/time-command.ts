import { spawnSync } from 'node:child_process'
import { type Stats, statsOf } from './stats.ts'

export interface Command {
  readonly program: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
}

/**
 * Returns the milliseconds from the call to the program's exit, and discards its output. Throws if the program fails.
 */
export function timeCommand(command: Command): number {
  const begun = performance.now()
  // There are no pipes: a supervisor that a program leaves behind would hold them open.
  const { status, error } = spawnSync(command.program, command.args, { ...command, stdio: 'ignore', timeout: 120_000 })
  const took = performance.now() - begun
  if (status === 0) return took
  throw new Error(`${command.program} ${command.args.join(' ')} ended with ${error?.message ?? status}`)
}

/**
 * Measures the contenders in turn, so that a disturbance of the machine affects all of them. Each round starts with
 * another one, because each leaves warm caches to the next.
 */
export async function interleave<Name extends string>(
  rounds: number,
  contenders: Readonly<Record<Name, Contender>>,
  afterRound: (round: number) => Promise<void> = async () => undefined,
): Promise<Record<Name, Stats>> {
  const names = Object.keys(contenders) as Name[]
  const samples = Object.fromEntries(names.map(name => [name, [] as number[]])) as Record<Name, number[]>
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(round + turn) % names.length] as Name
      samples[name].push(await contenders[name](round))
    }
    await afterRound(round)
  }
  return Object.fromEntries(names.map(name => [name, statsOf(samples[name])])) as Record<Name, Stats>
}

/** Measures one sample. */
export type Contender = (round: number) => number | Promise<number>
