import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { attemptFolder } from '../../src/state/session-folder.ts'
import { which } from '../../src/os/which.ts'
import { FolderWatch } from '../measure/folder-watch.ts'
import { interleave } from '../measure/time-command.ts'
import { waitForExit } from '../peers/wait-for-exit.ts'
import { faultIn } from '../programs/check-lines.ts'
import { bytesOf } from '../programs/numbered-lines.ts'
import type { BenchHome } from '../product/bench-home.ts'
import type { Measured, Row } from '../report/row.ts'
import type { BenchContext } from '../context.ts'

/** Runs this very program in its other role. */
const TALK = [process.execPath, process.argv[1] ?? '', 'talk'] as const

/** Milliseconds: 50 MB through a terminal take three seconds, and ten on a busy machine. */
const PATIENCE = 120_000

/**
 * Measures how fast a program can write into a session, compared with the same program writing into a file; checks
 * every byte.
 */
export async function output(context: BenchContext): Promise<Row[]> {
  const home = await context.home('output')
  const lines = { headless: context.isQuick ? 2_000_000 : 5_000_000, tty: context.isQuick ? 100_000 : 500_000 }
  const script = which('script', process.env, '/')
  const times = await interleave<string>(context.rounds(9, 3), {
    file: () => talkToFile(context, lines.headless),
    headless: () => talkInSession(context, home, 'headless', lines.headless),
    tty: () => talkInSession(context, home, 'tty', lines.tty),
    ...(script === undefined ? {} : { script: () => talkToScript(script, context, lines.tty) }),
  })
  const of = (name: string, total: number): Measured => speed(total, times[name]?.median ?? Number.NaN)
  const raw = script === undefined ? { notMeasured: 'script is not installed' } : of('script', lines.tty)
  const lost = context.broken.length === 0 ? '0 bytes lost' : 'BYTES LOST'
  return [
    {
      figure: `${bytesOf(lines.headless) / 1e6} MB through a headless session`,
      ours: { ...of('headless', lines.headless), more: lost },
      beside: { name: 'the same program > file', theirs: of('file', lines.headless) },
      aim: { of: 'ratio', is: 'at least', limit: 0.95 },
    },
    {
      figure: `${bytesOf(lines.tty) / 1e6} MB through a terminal session`,
      ours: { ...of('tty', lines.tty), more: lost },
      beside: { name: 'the same program in script(1)', theirs: raw },
    },
  ]
}

async function talkInSession(
  context: BenchContext,
  home: BenchHome,
  mode: 'headless' | 'tty',
  lines: number,
): Promise<number> {
  const report = reportIn(context)
  const reports = new FolderWatch(path.dirname(report))
  const written = reports.come(new Set([`${path.basename(report)}.draft`]), PATIENCE)
  const session = await home.start([...TALK, String(lines), report], mode)
  await written // Polling for the end during the write would slow the program down.
  reports.close()
  await home.ended(session.id)
  const fault = faultIn(attemptFolder(home.home, session.id, 1).stdout, lines, mode === 'tty' ? '\r\n' : '\n')
  if (fault !== null) context.broken.push(`output of a ${mode} session: ${fault}`)
  await home.clean()
  return takeReport(report)
}

async function talkToFile(context: BenchContext, lines: number): Promise<number> {
  const file = path.join(context.clone.root, 'raw')
  const report = reportIn(context)
  const fd = fs.openSync(file, 'a')
  const [program, ...args] = TALK
  const child = spawn(program, [...args, String(lines), report], { env: context.clone.env, stdio: ['ignore', fd, fd] })
  fs.closeSync(fd)
  await waitForExit(child)
  const fault = faultIn(file, lines, '\n')
  if (fault !== null) throw new Error(`the benchmark's own writer is wrong: ${fault}`)
  fs.rmSync(file)
  return takeReport(report)
}

/** Measures the cost of a terminal without tmux. */
async function talkToScript(script: string, context: BenchContext, lines: number): Promise<number> {
  const file = path.join(context.clone.root, 'typescript')
  const report = reportIn(context)
  const command = `exec ${[...TALK, lines, report].join(' ')}`
  await waitForExit(spawn(script, ['-qec', command, file], { env: context.clone.env, stdio: 'ignore' }))
  fs.rmSync(file)
  return takeReport(report)
}

function reportIn({ clone }: BenchContext): string {
  const folder = path.join(clone.root, 'reports')
  fs.mkdirSync(folder, { recursive: true })
  return path.join(folder, 'took')
}

/** Returns the milliseconds that the program itself measured, from before its first write to after its last. */
function takeReport(file: string): number {
  const took = Number(fs.readFileSync(file, 'utf8'))
  fs.rmSync(file)
  return took
}

function speed(lines: number, took: number): Measured {
  return { value: bytesOf(lines) / 1e6 / (took / 1000), unit: 'MB/s' }
}
