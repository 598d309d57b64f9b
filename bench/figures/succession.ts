import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isAlive } from '../measure/proc.ts'
import { until } from '../measure/until.ts'
import type { NotMeasured } from '../peers/install.ts'
import type { Measured, Row } from '../report/row.ts'
import type { Workshop } from '../workshop.ts'
import { type Heir, type Opening, OPENINGS } from './heirs.ts'

/** It notes each line in a file of its own before it says it; its first act is a file named after its pid. */
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
/** For this long nobody supervises, and the program talks on. */
const WITHOUT = 500
/** Whoever notices a death has started another one by then. */
const NOTICE = 3_000

/** What becomes of a program whose supervisor is killed with -9 and started again in the documented way. */
export async function succession(shop: Workshop): Promise<Row[]> {
  const program = path.join(shop.stage.root, 'talker')
  fs.writeFileSync(program, TALKER, { mode: 0o755 })
  const told = await Promise.all(
    Object.entries(OPENINGS).map(async ([name, open]) => [name, await succeed(shop, { name, open, program })] as const),
  )
  const [[, ours], ...peers] = told as [(typeof told)[0], ...typeof told]
  if ('notMeasured' in ours) throw new Error(ours.notMeasured)
  if (ours.value !== 1 || ours.more !== GOOD) shop.broken.push(`supervisor killed: ${ours.value} copies, ${ours.more}`)
  return peers.map(([name, theirs]) => ({
    figure: 'supervisor killed and started again',
    ours,
    beside: { name, theirs },
    aim: { of: 'ours', is: 'at most', limit: 1 },
  }))
}

const GOOD = 'its next death is noticed, 0 lines lost'

async function succeed(
  shop: Workshop,
  { name, open, program }: { name: string; open: Opening; program: string },
): Promise<Measured | NotMeasured> {
  const folder = path.join(shop.stage.root, `heir of ${name}`.replaceAll(' ', '-'))
  fs.mkdirSync(path.join(folder, 'pids'), { recursive: true })
  const heir = await open(shop, [program, folder], folder)
  if ('notMeasured' in heir) return heir
  shop.keep({ close: () => heir.close().then(() => endAll(folder)) })
  const first = await until(`${name} has started its program`, () => alive(folder)[0])
  process.kill(await heir.supervisor(), 'SIGKILL')
  await pause(WITHOUT)
  await heir.startAgain()
  await pause(WITHOUT)
  const copies = alive(folder)
  const fate = copies.includes(first)
    ? `its next death is ${(await noticesDeath(folder, first)) ? '' : 'not '}noticed`
    : 'the first died of it'
  return { value: copies.length, unit: 'copies', more: `${fate}, ${linesLost(folder, first, heir)} lines lost` }
}

async function noticesDeath(folder: string, pid: number): Promise<boolean> {
  const before = new Set(alive(folder))
  process.kill(pid, 'SIGKILL')
  const born = (): true | undefined => (alive(folder).some(other => !before.has(other)) ? true : undefined)
  return until('another one is started', born, { patience: NOTICE }).catch(() => false)
}

/** What the first one noted and nobody kept. It may have been killed between the two. */
function linesLost(folder: string, pid: number, heir: Heir): number {
  const of = (text: string): string[] => text.split('\n').filter(line => line.startsWith(`${pid} `))
  const kept = new Set(of(heir.log()))
  const noted = of(fs.readFileSync(path.join(folder, 'noted'), 'utf8')).slice(0, -1)
  return noted.filter(line => !kept.has(line)).length
}

function alive(folder: string): number[] {
  return fs.readdirSync(path.join(folder, 'pids')).map(Number).filter(isAlive)
}

/** Those that nobody knows any more. */
async function endAll(folder: string): Promise<void> {
  await until('all of them are gone', () => {
    for (const pid of alive(folder)) process.kill(pid, 'SIGKILL')
    return alive(folder).length === 0 ? true : undefined
  })
}
