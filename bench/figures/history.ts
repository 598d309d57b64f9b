import { memoryOf } from '../measure/proc.ts'
import { interleave, timeCommand } from '../measure/time-command.ts'
import { BenchHome } from '../product/bench-home.ts'
import { addEndedSessions, writeTranscript } from '../product/history.ts'
import { type Aim, megabytes, milliseconds, type Row } from '../report/row.ts'
import type { BenchContext } from '../context.ts'

const SAME: Aim = { of: 'ratio', is: 'at most', limit: 1.1 }
const FEW = 30
const MANY = 10_000
const MEGABYTE = 1024 ** 2

/** Measures the same commands and supervisor with 30 ended sessions and with 10,000, and `log` of a long transcript. */
export async function history(context: BenchContext): Promise<Row[]> {
  const few = await openFilled(context, 'history-few', FEW)
  const many = await openFilled(context, 'history-many', MANY)
  writeTranscript(few.home, 0, MEGABYTE)
  writeTranscript(many.home, 0, context.isQuick ? 256 * MEGABYTE : 1024 * MEGABYTE)
  const memory = { few: await supervisorMemory(few), many: await supervisorMemory(many) }
  const commands: Readonly<Record<string, (home: BenchHome, round: number) => string[]>> = {
    status: () => ['status', 'history-7'],
    run: (_, round) => ['run', '--headless', '--name', `run-${round}`, '--', 'true'],
    list: () => ['list'],
    'log -n 50': () => ['log', 'history-0', '-n', '50'],
  }
  const contenders = Object.entries(commands).flatMap(([name, words]) => [
    [`${name} few`, (round: number) => timeCommand(few.command(...words(few, round)))] as const,
    [`${name} many`, (round: number) => timeCommand(many.command(...words(many, round)))] as const,
  ])
  const times = await interleave<string>(context.rounds(40, 8), Object.fromEntries(contenders))
  const of = (name: string) => milliseconds(times[name] as NonNullable<(typeof times)[string]>)
  const log = `log -n 50, ${context.isQuick ? '256 MB' : '1 GB'}`
  return [
    ...Object.keys(commands).map(name => ({
      figure: name === 'log -n 50' ? log : `${name}, 10,000 ended sessions`,
      ours: of(`${name} many`),
      beside: { name: name === 'log -n 50' ? '1 MB' : '30 ended sessions', theirs: of(`${name} few`) },
      aim: SAME,
    })),
    {
      figure: 'RSS of the supervisor, 10,000 ended sessions',
      ours: megabytes(memory.many),
      beside: { name: '30 ended sessions', theirs: megabytes(memory.few) },
      aim: SAME,
    },
  ]
}

async function openFilled(context: BenchContext, name: string, count: number): Promise<BenchHome> {
  const home = new BenchHome(context.clone, name, context.say)
  addEndedSessions(home.home, count, home.project)
  return context.closeAtEnd(await home.open())
}

async function supervisorMemory(home: BenchHome): Promise<number> {
  return memoryOf((await home.daemon()).pid).rss
}
