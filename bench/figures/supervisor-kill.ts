import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isAlive } from '../measure/proc.ts'
import { waitUntil } from '../measure/wait-until.ts'
import type { NotMeasured } from '../peers/install.ts'
import type { Measured, Row } from '../report/row.ts'
import type { BenchContext } from '../context.ts'
import { type KilledSupervisor, type OpenContender, CONTENDERS } from './supervisor-kill-contenders.ts'

/**
 * Creates a file named after its pid first. Then writes each line to a file of its own before it writes it to stdout.
 */
const TALKER = `#!/bin/sh
: >"$1/pids/$$"
n=0
while :; do
  n=$((n + 1))
  echo "$$ $n" >>"$1/noted"
  echo "$$ $n"
  sleep 0.05
done
`
/** Milliseconds without a supervisor, in which the program continues to write. */
const WITHOUT = 500
/** Milliseconds within which a supervisor that notices a death has started another program. */
const NOTICE = 3_000

/** Measures the fate of a program whose supervisor gets kill -9 and restarts in the documented way. */
export async function supervisorKill(context: BenchContext): Promise<Row[]> {
  const program = path.join(context.clone.root, 'talker')
  fs.writeFileSync(program, TALKER, { mode: 0o755 })
  const results = await Promise.all(
    Object.entries(CONTENDERS).map(
      async ([name, open]) => [name, await killAndRestart(context, { name, open, program })] as const,
    ),
  )
  const [[, ours], ...peers] = results as [(typeof results)[0], ...typeof results]
  if ('notMeasured' in ours) throw new Error(ours.notMeasured)
  if (ours.value !== 1 || ours.more !== GOOD)
    context.broken.push(`supervisor killed: ${ours.value} copies, ${ours.more}`)
  return peers.map(([name, theirs]) => ({
    figure: 'supervisor killed and started again',
    ours,
    beside: { name, theirs },
    aim: { of: 'ours', is: 'at most', limit: 1 },
  }))
}

const GOOD = 'its next death is noticed, 0 lines lost'

async function killAndRestart(
  context: BenchContext,
  { name, open, program }: { name: string; open: OpenContender; program: string },
): Promise<Measured | NotMeasured> {
  const folder = path.join(context.clone.root, `heir of ${name}`.replaceAll(' ', '-'))
  fs.mkdirSync(path.join(folder, 'pids'), { recursive: true })
  const contender = await open(context, [program, folder], folder)
  if ('notMeasured' in contender) return contender
  context.closeAtEnd({ close: () => contender.close().then(() => endAll(folder)) })
  const first = await waitUntil(`${name} has started its program`, () => alive(folder)[0])
  process.kill(await contender.supervisor(), 'SIGKILL')
  await pause(WITHOUT)
  await contender.startAgain()
  await pause(WITHOUT)
  const copies = alive(folder)
  const fate = copies.includes(first)
    ? `its next death is ${(await noticesDeath(folder, first)) ? '' : 'not '}noticed`
    : 'the first died of it'
  return { value: copies.length, unit: 'copies', more: `${fate}, ${linesLost(folder, first, contender)} lines lost` }
}

async function noticesDeath(folder: string, pid: number): Promise<boolean> {
  const before = new Set(alive(folder))
  process.kill(pid, 'SIGKILL')
  const born = (): true | undefined => (alive(folder).some(other => !before.has(other)) ? true : undefined)
  return waitUntil('another one is started', born, { patience: NOTICE }).catch(() => false)
}

/**
 * Counts the lines that the first program noted and nobody recorded, without the last one: a kill may have come between
 * noting and writing it.
 */
function linesLost(folder: string, pid: number, contender: KilledSupervisor): number {
  const of = (text: string): string[] => text.split('\n').filter(line => line.startsWith(`${pid} `))
  const kept = new Set(of(contender.log()))
  const noted = of(fs.readFileSync(path.join(folder, 'noted'), 'utf8')).slice(0, -1)
  return noted.filter(line => !kept.has(line)).length
}

function alive(folder: string): number[] {
  return fs.readdirSync(path.join(folder, 'pids')).map(Number).filter(isAlive)
}

/** Ends the programs that no supervisor knows any more. */
async function endAll(folder: string): Promise<void> {
  await waitUntil('all of them are gone', () => {
    for (const pid of alive(folder)) process.kill(pid, 'SIGKILL')
    return alive(folder).length === 0 ? true : undefined
  })
}
