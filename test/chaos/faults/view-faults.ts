import { readSessions } from '../../../src/views/sessions.ts'
import { terminalSocket } from '../../../src/world/os/folders.ts'
import { identify, lives, signalProcess } from '../../../src/world/os/processes.ts'
import { run } from '../../../src/world/os/run.ts'
import { readExit, readRecorder } from '../../../src/world/os/spool.ts'
import { steadyNow } from '../agent/journal.ts'
import { pick } from '../dice.ts'
import type { Story } from '../fleet/story.ts'
import type { Blow, Fault, Scene } from './fault.ts'
import { recovered } from './recovered.ts'
import { folderOf } from './work-faults.ts'

/** kill -9 of the server that shows all sessions. It is as it should be when every session at work has its pane again. */
export const killTmux: Fault = async scene => {
  const { home } = scene.theatre
  const pid = await serverPid(home.tmuxSocket)
  const server = pid === undefined ? undefined : identify(pid)
  if (server === undefined || !signalProcess(server, 'SIGKILL')) return undefined
  const isBack = async (): Promise<boolean> => {
    const running = readSessions(home).filter(view => view.phase === 'running')
    const { stdout } = await run('tmux', ['-S', home.tmuxSocket, 'list-sessions', '-F', '#{session_name}'])
    const shown = new Set(stdout.split('\n'))
    return running.length > 0 && running.every(view => shown.has(view.name))
  }
  return { at: steadyNow(), kills: 1, recovery: recovered(isBack) }
}

/** kill -9 of the server that owns one session's terminal. Its program goes with it, and what it says until then is lost. */
export const killTerminal: Fault = async (scene, roll) => {
  const story = pick(terminals(scene, 2), roll())
  if (story?.id === undefined) return undefined
  const pid = await serverPid(terminalSocket(scene.theatre.home, story.id))
  const server = pid === undefined ? undefined : identify(pid)
  if (server === undefined || !signalProcess(server, 'SIGKILL')) return undefined
  story.hurt.add('terminal')
  story.strikes++
  return { at: steadyNow(), kills: 1, story, isDeath: true }
}

export const killRecorder: Fault = async (scene, roll) => {
  const story = pick(terminals(scene, Number.POSITIVE_INFINITY), roll())
  const folder = story && folderOf(scene, story)
  const recorder = folder && readRecorder(folder)
  if (!recorder || lives(recorder) !== 'alive' || !signalProcess(recorder, 'SIGKILL')) return undefined
  story.hurt.add('recorder')
  const isBack = (): boolean | 'moot' => {
    const now = readRecorder(folder)
    if (readExit(folder) !== null || now === null) return 'moot'
    return now.pid !== recorder.pid && lives(now) === 'alive'
  }
  return { at: steadyNow(), kills: 1, story, recovery: recovered(isBack) }
}

/** Somebody who looks on, by `follow` or attached to a pane. Nothing has to come back. */
export const killViewer: Fault = async (scene, roll): Promise<Blow | undefined> => {
  const viewer = pick(await scene.viewers.pids(), roll())
  const found = viewer === undefined ? undefined : identify(viewer)
  if (found === undefined || !signalProcess(found, 'SIGKILL')) return undefined
  return { at: steadyNow(), kills: 1 }
}

function terminals(scene: Scene, mostStrikes: number): Story[] {
  return scene.fleet.live.filter(story => story.plan.mode === 'tty' && story.strikes < mostStrikes)
}

async function serverPid(socket: string): Promise<number | undefined> {
  const { stdout } = await run('tmux', ['-S', socket, 'list-sessions', '-F', '#{pid}'])
  const pid = Number(stdout.split('\n')[0])
  return pid > 0 ? pid : undefined
}
