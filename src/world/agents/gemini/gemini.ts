import type { Agent } from '../../../ports/agent.ts'
import { explainExit } from './explain-exit.ts'
import { findThread } from './find-thread.ts'
import { validate } from './validate.ts'
import { planLaunch } from './launch.ts'
import { readLine } from './read.ts'

/** The Gemini CLI. oneshot chooses its thread ids. */
export const gemini: Agent = {
  kind: 'gemini',
  proof: 'end-event',
  defaultMode: 'headless',
  modes: ['headless'],
  // gemini 0.61 writes nothing while a tool runs.
  silence: 15 * 60_000,
  takesPrompt: true,
  program: 'gemini',
  validate,
  planLaunch,
  resumeCommand: (program, thread) => [program, '--resume', thread],
  readLine,
  findThread,
  explainExit,
}
