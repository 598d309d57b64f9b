import { type Contender, interleave, timeCommand } from '../measure/time-command.ts'
import { Pm2 } from '../peers/pm2.ts'
import type { NotMeasured } from '../peers/install.ts'
import { type Aim, milliseconds, type Row } from '../report/row.ts'
import type { BenchContext } from '../context.ts'
import { emptyNode } from './latency.ts'

const AHEAD: Aim = { of: 'ratio', is: 'below', limit: 1 }
const LIST_AIM: Aim = { of: 'ratio', is: 'at most', limit: 2 }

/** Measures `list` with one session and with 200, compared with an empty Node program and pm2 with as many programs. */
export async function list(context: BenchContext): Promise<Row[]> {
  const one = await (await context.fleet('one')).growTo(1)
  const many = await (await context.fleet('fleet')).growTo(200)
  const pm2 = { one: await context.pm2('pm2-one'), many: await context.pm2('pm2-fleet') }
  const times = await interleave<string>(context.rounds(30, 6), {
    node: () => timeCommand(emptyNode(context)),
    'ours 1': () => timeCommand(one.home.command('list')),
    'ours 200': () => timeCommand(many.home.command('list')),
    ...listing('pm2 1', pm2.one, 1),
    ...listing('pm2 200', pm2.many, 200),
  })
  const of = (name: string) => {
    const stats = times[name]
    return stats === undefined ? (pm2.one as NotMeasured) : milliseconds(stats)
  }
  return [1, 200].flatMap(count => {
    const ours = milliseconds(times[`ours ${count}`] as NonNullable<(typeof times)[string]>)
    const figure = `list, ${count} ${count === 1 ? 'session' : 'sessions'}`
    return [
      { figure, ours, beside: { name: 'node -e 0', theirs: of('node') }, ...(count === 200 ? { aim: LIST_AIM } : {}) },
      { figure, ours, beside: { name: `pm2 ls, ${count}`, theirs: of(`pm2 ${count}`) }, aim: AHEAD },
    ]
  })
}

function listing(name: string, pm2: Pm2 | NotMeasured, count: number): Record<string, Contender> {
  if (!(pm2 instanceof Pm2)) return {}
  pm2.growTo(count)
  return { [name]: () => timeCommand(pm2.command('ls')) }
}
