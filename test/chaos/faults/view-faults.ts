import { testSessionId } from '../../../testkit/core/ids.ts'
import { readSessions } from '../../../testkit/views/stored-sessions.ts'
import { terminalSocket } from '../../../src/state/session-folder.ts'
import { identifyProcess, checkLiveness, signalProcess } from '../../../src/os/process/processes.ts'
import { run } from '../../../src/os/run.ts'
import { readExit, readRecorder } from '../../../src/state/shim-records.ts'
import { steadyNow } from '../agent/journal.ts'
import { pick } from '../../../testkit/system/seeded-random.ts'
import type { ChaosSession } from '../fleet/chaos-session.ts'
import type { FaultEffect, Fault, FaultContext } from './fault.ts'
import { measureRecovery } from './measure-recovery.ts'
import { folderOf } from './agent-faults.ts'

/**
 * Sends kill -9 to the tmux server that shows all sessions. It counts as recovered when every live session has its pane
 * again.
 */
export const killTmux: Fault = async context => {
  const { home } = context.environment
  const pid = await serverPid(home.tmuxSocket)
  const server = pid === undefined ? undefined : identifyProcess(pid)
  if (server === undefined || !signalProcess(server, 'SIGKILL')) return undefined
  const isBack = async (): Promise<boolean> => {
    const running = readSessions(home).filter(view => view.phase === 'running')
    const { stdout } = await run('tmux', ['-S', home.tmuxSocket, 'list-sessions', '-F', '#{session_name}'])
    const shown = new Set(stdout.split('\n'))
    return running.length > 0 && running.every(view => shown.has(view.name))
  }
  return { at: steadyNow(), kills: 1, recovery: measureRecovery(isBack) }
}

/**
 * Sends kill -9 to the tmux server that owns a session's terminal. Its program dies with it, and its output until then
 * is lost.
 */
export const killTerminal: Fault = async (context, random) => {
  const session = pick(terminals(context, 2), random())
  if (session?.id === undefined) return undefined
  const pid = await serverPid(terminalSocket(context.environment.home, testSessionId(session.id)))
  const server = pid === undefined ? undefined : identifyProcess(pid)
  if (server === undefined || !signalProcess(server, 'SIGKILL')) return undefined
  session.hurt.add('terminal')
  session.strikes++
  return { at: steadyNow(), kills: 1, story: session, isDeath: true }
}

export const killRecorder: Fault = async (context, random) => {
  const session = pick(terminals(context, Number.POSITIVE_INFINITY), random())
  const folder = session && folderOf(context, session)
  const recorder = folder && readRecorder(folder)
  if (!recorder || checkLiveness(recorder) !== 'alive' || !signalProcess(recorder, 'SIGKILL')) return undefined
  session.hurt.add('recorder')
  const isBack = (): boolean | 'moot' => {
    const now = readRecorder(folder)
    if (readExit(folder) !== null || now === null) return 'moot'
    return now.pid !== recorder.pid && checkLiveness(now) === 'alive'
  }
  return { at: steadyNow(), kills: 1, story: session, recovery: measureRecovery(isBack) }
}

/** Kills a viewer: a `follow`, or a client attached to a pane. Nothing has to recover. */
export const killViewer: Fault = async (context, random): Promise<FaultEffect | undefined> => {
  const viewer = pick(await context.viewers.pids(), random())
  const found = viewer === undefined ? undefined : identifyProcess(viewer)
  if (found === undefined || !signalProcess(found, 'SIGKILL')) return undefined
  return { at: steadyNow(), kills: 1 }
}

function terminals(context: FaultContext, mostStrikes: number): ChaosSession[] {
  return context.fleet.live.filter(session => session.plan.mode === 'tty' && session.strikes < mostStrikes)
}

async function serverPid(socket: string): Promise<number | undefined> {
  const { stdout } = await run('tmux', ['-S', socket, 'list-sessions', '-F', '#{pid}'])
  const pid = Number(stdout.split('\n')[0])
  return pid > 0 ? pid : undefined
}
