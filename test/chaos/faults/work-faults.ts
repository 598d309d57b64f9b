import { attemptFolder } from '../../../src/world/os/folders.ts'
import { lives, type ProcessId, signalProcess } from '../../../src/world/os/processes.ts'
import { readClaim, readExit, readStarted } from '../../../src/world/os/spool.ts'
import { readJournal, steadyNow } from '../agent/journal.ts'
import { pick } from '../dice.ts'
import type { Story } from '../fleet/story.ts'
import type { Blow, Fault, Scene } from './fault.ts'

/** More strikes than this, and a session spends its life in the pauses between its restarts. */
const MOST_STRIKES = 3

/** kill -9 of an agent. */
export const killAgent: Fault = async (scene, roll) => {
  const victims = scene.fleet.live.filter(story => story.strikes < MOST_STRIKES)
  const story = pick(victims, roll())
  const folder = story && folderOf(scene, story)
  const life = folder && readStarted(folder)
  if (!story || !life || readExit(folder) !== null || !signalProcess(life, 'SIGKILL')) return undefined
  story.strikes++
  return { at: steadyNow(), kills: 1, story }
}

/** kill -9 of something an agent has started. */
export const killTool: Fault = async (scene, roll) => {
  const tools = scene.fleet.live.flatMap(story => toolsOf(scene, story))
  const tool = pick(tools, roll())
  if (tool === undefined || !signalProcess(tool, 'SIGKILL')) return undefined
  return { at: steadyNow(), kills: 1 }
}

/** kill -9 of a shim under its living agent. */
export const killShim: Fault = async (scene, roll) => {
  const story = pick(scene.fleet.live, roll())
  const folder = story && folderOf(scene, story)
  const shim = folder && readClaim(folder)
  if (!shim || lives(shim) !== 'alive' || !signalProcess(shim, 'SIGKILL')) return undefined
  return { at: steadyNow(), kills: 1 }
}

/** An agent and its shim in the same moment: nobody is left who could tell how it ended. */
export const killAgentAndShim: Fault = async (scene, roll) => {
  const victims = scene.fleet.live.filter(story => story.strikes < MOST_STRIKES)
  const story = pick(victims, roll())
  const folder = story && folderOf(scene, story)
  const life = folder && readStarted(folder)
  const shim = folder && readClaim(folder)
  if (!story || !life || !shim || readExit(folder) !== null || !signalProcess(shim, 'SIGKILL')) return undefined
  const blow: Blow = { at: steadyNow(), kills: 1 }
  if (!signalProcess(life, 'SIGKILL')) return blow
  story.strikes++
  return { ...blow, kills: 2, story }
}

export function folderOf(scene: Scene, story: Story): ReturnType<typeof attemptFolder> | undefined {
  const view = story.view()
  return view === undefined || view.phase === 'ended'
    ? undefined
    : attemptFolder(scene.theatre.home, view.id, view.attempt)
}

function toolsOf(scene: Scene, story: Story): ProcessId[] {
  return readJournal(scene.theatre.journalOf(story.plan.task))
    .flatMap(entry => (entry.kind === 'tool' ? [entry.process] : []))
    .filter(tool => lives(tool) === 'alive')
}
