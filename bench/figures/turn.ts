import { type Kind, PROGRAMS, program } from '../../test/agents/kit/programs.ts'
import { Turns } from '../agents/turns.ts'
import { interleave } from '../measure/time-command.ts'
import { type Stats, statsOf } from '../measure/stats.ts'
import { type Aim, type Measured, milliseconds, round, type Row } from '../report/row.ts'
import type { BenchContext } from '../context.ts'

const KINDS = ['claude', 'codex', 'opencode', 'pi'] as const satisfies readonly Kind[]

const TURN_AIM: Aim = { of: 'ratio', is: 'below', limit: 1.08 }
const OVERHEAD_AIM: Aim = { of: 'ours', is: 'below', limit: 60 }

/** Measures how much longer a whole turn of an agent takes with oneshot than without. */
export async function turn(context: BenchContext): Promise<Row[]> {
  const kinds = KINDS.filter(kind => isInstalled(kind, context))
  if (kinds.length === 0) return []
  const turns = context.closeAtEnd(await Turns.open(await context.home('turn'), context.clone, kinds))
  const rows: Row[] = []
  for (const kind of kinds) {
    try {
      rows.push(...(await measure(kind, turns, context.rounds(15, 3))))
    } catch (cause) {
      context.broken.push(`turn of ${kind}: ${cause instanceof Error ? cause.stack : cause}`)
    }
  }
  return rows
}

async function measure(kind: Kind, turns: Turns, rounds: number): Promise<Row[]> {
  const latest = { alone: 0, session: 0, outside: 0 }
  const ways = {
    alone: async () => (latest.alone = await turns.alone(kind)),
    session: async () => {
      const { took, outside } = await turns.session(kind)
      return Object.assign(latest, { session: took, outside }).session
    },
    follow: () => turns.follow(kind),
  }
  await interleave(1, ways) // The first run of each has cold caches and does not count.
  const rounded: (typeof latest)[] = []
  const times = await interleave(rounds, ways, async () => void rounded.push({ ...latest }))
  const overhead = statsOf(rounded.map(({ session, alone }) => session - alone))
  const outside = statsOf(rounded.map(one => one.outside))
  const beside = { name: `${kind} ${PROGRAMS[kind].version} alone`, theirs: milliseconds(times.alone) }
  return [
    { figure: `${kind}, a turn`, ours: milliseconds(times.session), beside, aim: TURN_AIM },
    { figure: `${kind}, a turn: overhead`, ours: difference(overhead, outside), aim: OVERHEAD_AIM },
    { figure: `${kind}, a turn by run --follow`, ours: milliseconds(times.follow), beside },
  ]
}

/**
 * The agents' own times vary more than oneshot's overhead; so the part that is certainly oneshot's stands beside the
 * difference.
 */
function difference(overhead: Stats, outside: Stats): Measured {
  const { more, ...measured } = milliseconds(overhead)
  return { ...measured, more: `${more}; outside the program ${round(outside.median)}` }
}

function isInstalled(kind: Kind, context: BenchContext): boolean {
  try {
    program(kind)
    return true
  } catch (cause) {
    context.notMeasured.push((cause as Error).message)
    return false
  }
}
