import { setTimeout as pause } from 'node:timers/promises'
import { type Stats, statsOf } from '../measure/stats.ts'
import { type Aim, milliseconds, type Row } from '../report/row.ts'
import type { BenchContext } from '../context.ts'
import { openRestartContenders, type RestartContender } from './restart-contenders.ts'
import { supervisorKill } from './supervisor-kill.ts'

const FIGURE = 'agent killed → the next one’s first act'
const PATIENCE = 10_000
/** Milliseconds: the peers count a death as worth a restart only after the program has run for a second. */
const LIFE = 1_200
/** A contender slower than this many milliseconds gets only ENOUGH rounds: a hundred rounds of seconds add nothing. */
const SLOW = 500
const ENOUGH = 15
const AIMS: Readonly<Record<string, Aim>> = { pm2: { of: 'ratio', is: 'at most', limit: 1 } }

/**
 * Measures the time from just before `kill -9` of a program until the next one acts, under oneshot and under each peer
 * in turn. By then oneshot has recorded on disk that one program died and the next one starts; no peer records
 * anything. Afterwards it kills their supervisors.
 */
export async function restart(context: BenchContext): Promise<Row[]> {
  const restarters = await openRestartContenders(context)
  const samples = new Map(restarters.map(({ name }) => [name, [] as number[]]))
  for (let round = 0; round < context.rounds(100, 2); round++) {
    await pause(LIFE)
    for (const { name, kill } of inTurn(restarters, round)) {
      const taken = samples.get(name) ?? []
      const isClear = taken.length >= ENOUGH && statsOf(taken).median > SLOW
      if (kill !== undefined && !isClear) taken.push(await kill(PATIENCE))
    }
  }
  const of = (name: string): Stats => statsOf(samples.get(name) ?? [])
  return [...rows(of, restarters), ...(context.effort === 'guard' ? [] : await supervisorKill(context))]
}

/** Starts each round with another contender, because each leaves warm caches to the next. */
function inTurn(restarters: readonly RestartContender[], round: number): RestartContender[] {
  const first = round % restarters.length
  return [...restarters.slice(first), ...restarters.slice(0, first)]
}

function rows(of: (name: string) => Stats, restarters: readonly RestartContender[]): Row[] {
  const ours = of('ours')
  const slowest = { value: ours.p99, unit: 'ms', more: `n ${ours.n}` } as const
  return [
    ...restarters
      .filter(({ name }) => name !== 'ours')
      .map(({ name, notMeasured }) => ({
        figure: FIGURE,
        ours: milliseconds(ours),
        beside: { name, theirs: notMeasured === undefined ? milliseconds(of(name)) : { notMeasured } },
        ...(AIMS[name] !== undefined && { aim: AIMS[name] }),
      })),
    { figure: '… the slowest of a hundred', ours: slowest, aim: { of: 'ours', is: 'below', limit: 25 } },
  ]
}
