import { setTimeout as pause } from 'node:timers/promises'
import { cpuOf } from '../measure/proc.ts'
import { Pm2 } from '../peers/pm2.ts'
import type { NotMeasured } from '../peers/install.ts'
import { Supervisord } from '../peers/supervisord.ts'
import type { Measured, Row } from '../report/row.ts'
import type { BenchContext } from '../context.ts'

const SESSIONS = 200
/** Milliseconds after which all work of the start is finished. */
const SETTLE = 2_000

/**
 * Measures the processor time of everything except the agents while 200 of them sleep, and that of the peers at the
 * same time.
 */
export async function idle(context: BenchContext): Promise<Row[]> {
  const fleet = await (await context.fleet('fleet')).growTo(SESSIONS)
  const pm2 = await context.pm2('pm2-fleet')
  const supervisord = await openSupervisord(context)
  const { daemon, keeper, tmux, shims } = await fleet.processes()
  const groups = {
    ours: [daemon, keeper, tmux, ...shims],
    daemon: [daemon],
    pm2: pm2 instanceof Pm2 ? [pm2.growTo(SESSIONS).daemon()] : [],
    supervisord: supervisord instanceof Supervisord ? [supervisord.daemon()] : [],
  }
  await pause(SETTLE)
  // The daemon's periodic check runs every half minute. A multiple of that includes it; a quick run may miss it.
  const spent = await watch(groups, context.isQuick ? 10_000 : 60_000)
  const ours = { ...spent.ours, more: `of it the daemon ${spent.daemon.value.toFixed(2)}` }
  const figure = `idle CPU, ${SESSIONS} sessions`
  return [
    {
      figure,
      ours,
      beside: { name: 'pm2', theirs: pm2 instanceof Pm2 ? spent.pm2 : pm2 },
      aim: { of: 'ours', is: 'below', limit: 2 },
    },
    {
      figure,
      ours,
      beside: {
        name: 'supervisord',
        theirs: supervisord instanceof Supervisord ? spent.supervisord : supervisord,
      },
    },
  ]
}

async function watch<Name extends string>(
  groups: Readonly<Record<Name, readonly number[]>>,
  duration: number,
): Promise<Record<Name, Measured>> {
  const names = Object.keys(groups) as Name[]
  const read = (): number[] => names.map(name => groups[name].reduce((sum, pid) => sum + cpuOf(pid), 0))
  const begun = performance.now()
  const before = read()
  await pause(duration)
  const after = read()
  const seconds = (performance.now() - begun) / 1000
  const rates = names.map((name, index): [Name, Measured] => [
    name,
    { value: ((after[index] ?? 0) - (before[index] ?? 0)) / seconds, unit: 'ms/s' },
  ])
  return Object.fromEntries(rates) as Record<Name, Measured>
}

async function openSupervisord(context: BenchContext): Promise<Supervisord | NotMeasured> {
  const { supervisord } = context.peers
  if (typeof supervisord !== 'string') return supervisord
  const order = { name: 'supervisord-fleet', command: 'sleep 100000', copies: SESSIONS }
  return context.closeAtEnd(await Supervisord.start(supervisord, context.clone, order))
}
