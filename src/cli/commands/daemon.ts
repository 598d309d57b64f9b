import fs from 'node:fs'
import { refusal } from '../../api/contract/problems.ts'
import type { DaemonView } from '../../api/contract/session-view.ts'
import type { Refusal } from '../../lib/refusal.ts'
import { homeExists } from '../../world/os/home.ts'
import { findAnswering, findDaemon, startDaemon, stopDaemon } from '../ensure-daemon.ts'
import type { Line } from '../line/line.ts'
import { INTERRUPTED, look } from '../look.ts'
import { toJson } from '../screen/json.ts'
import type { Outlet } from '../screen/outlet.ts'
import { relative } from '../screen/when.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'
import type { DAEMON_ACTIONS } from '../table/supervisor.ts'
import { tailOf } from '../tail-of.ts'

export async function daemon(line: Line, surroundings: Surroundings): Promise<number> {
  const action = (line.words[0] ?? 'status') as (typeof DAEMON_ACTIONS)[number]
  return await ACTIONS[action](line, surroundings)
}

const ACTIONS = { start, stop, status, restart, log } as const satisfies Record<
  (typeof DAEMON_ACTIONS)[number],
  (line: Line, surroundings: Surroundings) => Promise<number>
>

async function start(line: Line, surroundings: Surroundings): Promise<number> {
  const running = await findAnswering(surroundings.home)
  if (line.has(OPTIONS.noResume) && running !== undefined) throw tooLate(running)
  const view = running ?? (await startDaemon(surroundings.home, { isHeld: line.has(OPTIONS.noResume) }))
  return answer(line, surroundings, view, running === undefined ? 'started' : 'already running')
}

function tooLate({ pid }: DaemonView): Refusal {
  const says = `a supervisor is already running (pid ${pid}), and has resumed the sessions that it found`
  return refusal('daemon-running', says, 'oneshot hold NAME, or oneshot daemon restart --no-resume')
}

async function stop(line: Line, { home, screen }: Surroundings): Promise<number> {
  const running = await findDaemon(home)
  if (running !== undefined) await stopDaemon(home, running)
  // A keeper may be about to bring a crashed one back; the marker tells it not to.
  else if (homeExists(home)) fs.writeFileSync(home.downMarker, '')
  if (line.has(OPTIONS.json)) screen.out.say(toJson({ stopped: running !== undefined }))
  else if (!screen.isQuiet)
    screen.err.say(running === undefined ? 'it was not running' : `stopped (pid ${running.pid})`)
  if (running !== undefined && running.sessions.live > 0) {
    screen.err.say('running work continues, unsupervised until the next command that needs the supervisor')
  }
  return 0
}

async function restart(line: Line, surroundings: Surroundings): Promise<number> {
  const { home } = surroundings
  const running = await findAnswering(home)
  if (running !== undefined) await stopDaemon(home, running)
  return answer(
    line,
    surroundings,
    await startDaemon(home, { isHeld: line.has(OPTIONS.noResume) }),
    running === undefined ? 'started' : 'restarted',
  )
}

async function status(line: Line, { home, screen }: Surroundings): Promise<number> {
  const view = await findDaemon(home)
  if (view === undefined) throw refusal('daemon-not-running', 'the supervisor is not running', 'oneshot daemon start')
  if (line.has(OPTIONS.json)) screen.out.say(toJson(view))
  else for (const text of describe(view, screen.out)) screen.out.say(text)
  return 0
}

async function log(line: Line, { home, screen: { out } }: Surroundings): Promise<number> {
  const { followLines, toRecord } = await import('../daemon-log.ts')
  const lines = line.value(OPTIONS.lines) ?? 'all'
  const show = (text: string): void => out.say(line.has(OPTIONS.json) ? JSON.stringify(toRecord(text)) : text)
  const { size } = fs.statSync(home.daemonLog, { throwIfNoEntry: false }) ?? { size: 0 }
  for (const text of tailOf(home.daemonLog, lines === 'all' ? Number.POSITIVE_INFINITY : lines)) show(text)
  if (!line.has(OPTIONS.followLog)) return 0
  const glance = await look({ outlet: out }, signal => followLines(home.daemonLog, size, show, signal))
  return glance.ended === 'interrupted' ? INTERRUPTED : 0
}

function answer(line: Line, { screen }: Surroundings, view: DaemonView, word: string): number {
  if (line.has(OPTIONS.json)) screen.out.say(toJson(view))
  else if (!screen.isQuiet) screen.err.say(`${word} (pid ${view.pid}, version ${view.version})`)
  return 0
}

function describe(view: DaemonView, out: Outlet): string[] {
  const started = out.isTerminal ? `${relative(view.startedAt, Date.now())} (${view.startedAt})` : view.startedAt
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
