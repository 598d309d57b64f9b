import fs from 'node:fs'
import { type AttemptFolder, attemptFolder } from '../../../src/world/os/folders.ts'
import { lives, type ProcessId, signalProcess } from '../../../src/world/os/processes.ts'
import { readClaim, readRecorder, readStarted } from '../../../src/world/os/spool.ts'
import { readJournal, steadyNow } from '../agent/journal.ts'
import { pick } from '../dice.ts'
import type { Story } from '../fleet/story.ts'
import type { Fault, Scene } from './fault.ts'

/** More strikes than this, and a session spends its life in the pauses between its restarts. */
const MOST_STRIKES = 3

/** kill -9 of an agent. */
export const killAgent: Fault = async (scene, roll) => {
  const victim = pick(agentsOf(scene), roll())
  if (victim === undefined || !signalProcess(victim.life, 'SIGKILL')) return undefined
  victim.story.strikes++
  return { at: steadyNow(), kills: 1, story: victim.story, isDeath: true }
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
  const victim = pick(agentsOf(scene), roll())
  const shim = victim && readClaim(victim.folder)
  if (!shim || !signalProcess(shim, 'SIGKILL')) return undefined
  closeTerminal(victim)
  return { at: steadyNow(), kills: 1, story: victim.story }
}

/** An agent and its shim in the same moment: nobody is left who could tell how it ended. */
export const killAgentAndShim: Fault = async (scene, roll) => {
  const victim = pick(agentsOf(scene), roll())
  const shim = victim && readClaim(victim.folder)
  if (!shim || !signalProcess(shim, 'SIGKILL')) return undefined
  const { story, life } = victim
  closeTerminal(victim)
  const isDeath = signalProcess(life, 'SIGKILL')
  if (isDeath) story.strikes++
  return { at: steadyNow(), kills: isDeath ? 2 : 1, story, isDeath }
}

/** A terminal closes with its shim: its agent is hung up on, and what a dead recorder has missed is lost for good. */
function closeTerminal({ story, folder }: Victim): void {
  if (story.plan.mode !== 'tty') return
  story.strikes++
  const recorder = readRecorder(folder)
  if (recorder === null || lives(recorder) === 'dead' || fs.existsSync(folder.gap)) story.hurt.add('terminal')
}

interface Victim {
  readonly story: Story
  readonly folder: AttemptFolder
  readonly life: ProcessId
}

/** Agents at work that were not struck too often. */
function agentsOf(scene: Scene): Victim[] {
  return scene.fleet.live.flatMap(story => {
    const folder = story.strikes < MOST_STRIKES ? folderOf(scene, story) : undefined
    const life = folder && readStarted(folder)
    return life && lives(life) === 'alive' ? [{ story, folder, life }] : []
  })
}

export function folderOf(scene: Scene, story: Story): AttemptFolder | undefined {
  const view = story.view()
  return view === undefined || view.phase === 'ended'
    ? undefined
    : attemptFolder(scene.theatre.home, view.id, view.attempt)
}

function toolsOf(scene: Scene, story: Story): ProcessId[] {
  return readJournal(scene.theatre.journalOf(story.plan.task), '"kind":"tool"')
    .flatMap(entry => (entry.kind === 'tool' ? [entry.process] : []))
    .filter(tool => lives(tool) === 'alive')
}
