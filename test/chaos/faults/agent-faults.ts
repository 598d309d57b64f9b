import fs from 'node:fs'
import { type AttemptFolder, attemptFolder } from '../../../src/state/session-folder.ts'
import { checkLiveness, type ProcessId, signalProcess } from '../../../src/os/process/processes.ts'
import { readClaim, readRecorder, readStarted } from '../../../src/state/shim-records.ts'
import { readJournal, steadyNow } from '../agent/journal.ts'
import { pick } from '../../../testkit/system/seeded-random.ts'
import type { ChaosSession } from '../fleet/chaos-session.ts'
import type { Fault, FaultContext } from './fault.ts'

/** After more kills than this, a session would spend its time in the delays between restarts. */
const MOST_STRIKES = 3

/** Sends kill -9 to an agent. */
export const killAgent: Fault = async (context, random) => {
  const victim = pick(agentsOf(context), random())
  if (victim === undefined || !signalProcess(victim.life, 'SIGKILL')) return undefined
  victim.story.strikes++
  return { at: steadyNow(), kills: 1, story: victim.story, isDeath: true }
}

/** Sends kill -9 to a process that an agent has started. */
export const killTool: Fault = async (context, random) => {
  const tools = context.fleet.live.flatMap(session => toolsOf(context, session))
  const tool = pick(tools, random())
  if (tool === undefined || !signalProcess(tool, 'SIGKILL')) return undefined
  return { at: steadyNow(), kills: 1 }
}

/** Sends kill -9 to a shim whose agent lives. */
export const killShim: Fault = async (context, random) => {
  const victim = pick(agentsOf(context), random())
  const shim = victim && readClaim(victim.folder)
  if (!shim || !signalProcess(shim, 'SIGKILL')) return undefined
  closeTerminal(victim)
  return { at: steadyNow(), kills: 1, story: victim.story }
}

/** Kills an agent and its shim at the same moment: nobody can record how the agent ended. */
export const killAgentAndShim: Fault = async (context, random) => {
  const victim = pick(agentsOf(context), random())
  const shim = victim && readClaim(victim.folder)
  if (!shim || !signalProcess(shim, 'SIGKILL')) return undefined
  const { story: session, life } = victim
  closeTerminal(victim)
  const isDeath = signalProcess(life, 'SIGKILL')
  if (isDeath) session.strikes++
  return { at: steadyNow(), kills: isDeath ? 2 : 1, story: session, isDeath }
}

/** A terminal closes with its shim: its agent gets SIGHUP, and output that a dead recorder missed is lost. */
function closeTerminal({ story: session, folder }: Victim): void {
  if (session.plan.mode !== 'tty') return
  session.strikes++
  const recorder = readRecorder(folder)
  if (recorder === null || checkLiveness(recorder) === 'dead' || fs.existsSync(folder.gap)) session.hurt.add('terminal')
}

interface Victim {
  readonly story: ChaosSession
  readonly folder: AttemptFolder
  readonly life: ProcessId
}

/** Returns the working agents that were not killed too often. */
function agentsOf(context: FaultContext): Victim[] {
  return context.fleet.live.flatMap(session => {
    const folder = session.strikes < MOST_STRIKES ? folderOf(context, session) : undefined
    const life = folder && readStarted(folder)
    return life && checkLiveness(life) === 'alive' ? [{ story: session, folder, life }] : []
  })
}

export function folderOf(context: FaultContext, session: ChaosSession): AttemptFolder | undefined {
  const view = session.view()
  return view === undefined || view.phase === 'ended'
    ? undefined
    : attemptFolder(context.environment.home, view.id, view.attempt)
}

function toolsOf(context: FaultContext, session: ChaosSession): ProcessId[] {
  return readJournal(context.environment.journalOf(session.plan.task), '"kind":"tool"')
    .flatMap(entry => (entry.kind === 'tool' ? [entry.process] : []))
    .filter(tool => checkLiveness(tool) === 'alive')
}
