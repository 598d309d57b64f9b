import fs from 'node:fs'
import { refusal } from '../../api/contract/problems.ts'
import type { DaemonView } from '../../api/contract/responses.ts'
import type { Refusal } from '../../lib/errors.ts'
import { DiskReserve } from '../../state/disk-reserve.ts'
import { homeExists } from '../../state/home.ts'
import { findRespondingDaemon, findDaemon, startDaemon, stopDaemon } from '../daemon/start-and-stop-daemon.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { INTERRUPTED, untilInterrupted } from '../terminal/interrupts.ts'
import { toJson } from '../terminal/format.ts'
import type { Output } from '../terminal/output.ts'
import { relativeTime } from '../terminal/format.ts'
import type { Command, CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'
import { readLastLines } from '../terminal/read-last-lines.ts'
import { choiceType } from '../args/value-types.ts'

const DAEMON_ACTIONS = ['start', 'stop', 'status', 'restart', 'log'] as const

export const command: Command = {
  name: 'daemon',
  group: 'Supervisor',
  order: 10,
  summary: 'start, stop or inspect the supervisor',
  about: `Commands start the supervisor when they need it. Stopping it stops no work: programs keep
running unsupervised until the next command starts the supervisor again.

With --no-resume it starts in safe mode: it supervises programs that are alive, and holds
every other session until you resume it.

Its log says what it decided about each session, and why.`,
  arguments: [
    { valueType: choiceType('ACTION', DAEMON_ACTIONS), summary: `${DAEMON_ACTIONS.join(', ')}; status unless given` },
  ],
  options: [OPTIONS.noResume, OPTIONS.lines, OPTIONS.followLog, OPTIONS.json],
  examples: [
    { argv: ['daemon', 'status', '--json'], description: 'its pid, epoch, version and start time' },
    { argv: ['daemon', 'start', '--no-resume'], description: 'look first, before any work continues' },
    { argv: ['daemon', 'restart'], description: 'work is not touched' },
    { argv: ['daemon', 'log', '-n', '20'], description: 'what it noted last' },
    { argv: ['daemon', 'log', '--follow', '--json'], description: 'all sessions, as it happens: one object a line' },
  ],
  run: daemon,
}

async function daemon(args: ParsedArgs, context: CommandContext): Promise<number> {
  const action = (args.positionals[0] ?? 'status') as (typeof DAEMON_ACTIONS)[number]
  return await ACTIONS[action](args, context)
}

const ACTIONS = { start, stop, status, restart, log } as const satisfies Record<
  (typeof DAEMON_ACTIONS)[number],
  (args: ParsedArgs, context: CommandContext) => Promise<number>
>

async function start(args: ParsedArgs, context: CommandContext): Promise<number> {
  const running = await findRespondingDaemon(context.home)
  if (args.has(OPTIONS.noResume) && running !== undefined) throw alreadyResumed(running)
  const view = running ?? (await startDaemon(context, { isHeld: args.has(OPTIONS.noResume) }))
  return printDaemon(args, context, view, running === undefined ? 'started' : 'already running')
}

function alreadyResumed({ pid }: DaemonView): Refusal {
  const message = `a supervisor is already running (pid ${pid}), and has resumed the sessions that it found`
  return refusal('daemon-running', message, 'oneshot hold NAME, or oneshot daemon restart --no-resume')
}

async function stop(args: ParsedArgs, { home, screen }: CommandContext): Promise<number> {
  const running = await findDaemon(home)
  if (running !== undefined) await stopDaemon(home, running)
  // A keeper may be about to restart a crashed supervisor; the marker stops it.
  else if (homeExists(home)) fs.writeFileSync(home.downMarker, '')
  if (args.has(OPTIONS.json)) screen.out.printLine(toJson({ stopped: running !== undefined }))
  else if (!screen.isQuiet)
    screen.err.printLine(running === undefined ? 'it was not running' : `stopped (pid ${running.pid})`)
  if (running !== undefined && running.sessions.live > 0) {
    screen.err.printLine('running work continues, unsupervised until the next command that needs the supervisor')
  }
  return 0
}

async function restart(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { home } = context
  const running = await findRespondingDaemon(home)
  if (running !== undefined && !new DiskReserve(home).hasSpaceForStart())
    throw refusal(
      'disk-full',
      `the disk of ${home.root} is full: a new supervisor could not start, so the old one (pid ${running.pid}) continues`,
      'oneshot stop NAME ends a session that fills it; oneshot clean removes ended sessions with their output',
    )
  if (running !== undefined) await stopDaemon(home, running)
  return printDaemon(
    args,
    context,
    await startDaemon(context, { isHeld: args.has(OPTIONS.noResume) }),
    running === undefined ? 'started' : 'restarted',
  )
}

async function status(args: ParsedArgs, { home, screen }: CommandContext): Promise<number> {
  const view = await findDaemon(home)
  if (view === undefined) throw refusal('daemon-not-running', 'the supervisor is not running', 'oneshot daemon start')
  if (args.has(OPTIONS.json)) screen.out.printLine(toJson(view))
  else for (const text of describe(view, screen.out)) screen.out.printLine(text)
  return 0
}

async function log(args: ParsedArgs, { home, screen }: CommandContext): Promise<number> {
  const { out } = screen
  const { followLines, parseLogLine: toRecord } = await import('../daemon/follow-log.ts')
  const lines = args.value(OPTIONS.lines) ?? 'all'
  const show = (text: string): void => out.printLine(args.has(OPTIONS.json) ? JSON.stringify(toRecord(text)) : text)
  const { size } = fs.statSync(home.daemonLog, { throwIfNoEntry: false }) ?? { size: 0 }
  for (const text of readLastLines(home.daemonLog, lines === 'all' ? Number.POSITIVE_INFINITY : lines)) show(text)
  if (!args.has(OPTIONS.followLog)) return 0
  const outcome = await untilInterrupted(screen, { outlet: out }, signal =>
    followLines(home.daemonLog, size, show, signal),
  )
  return outcome.ended === 'interrupted' ? INTERRUPTED : 0
}

function printDaemon(args: ParsedArgs, { screen }: CommandContext, view: DaemonView, word: string): number {
  if (args.has(OPTIONS.json)) screen.out.printLine(toJson(view))
  else if (!screen.isQuiet) screen.err.printLine(`${word} (pid ${view.pid}, version ${view.version})`)
  return 0
}

function describe(view: DaemonView, out: Output): string[] {
  const started = out.isTerminal ? `${relativeTime(view.startedAt, Date.now())} (${view.startedAt})` : view.startedAt
  const facts: [string, string][] = [
    ['pid', String(view.pid)],
    ['version', view.version],
    ['epoch', String(view.epoch)],
    ['started', started],
    ['sessions', `${view.sessions.live} live, ${view.sessions.ended} ended`],
    ['state', view.home],
  ]
  const lines = facts.map(([label, value]) => `  ${out.paint.dim(label.padEnd(9))} ${value}`)
  return [`${out.paint.green('● running')} supervisor`, ...lines]
}
