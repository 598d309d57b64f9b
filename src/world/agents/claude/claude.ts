import type { Agent } from '../../../ports/agent.ts'
import { explainExit } from './explain-exit.ts'
import { findThread } from './find-thread.ts'
import { validate } from './validate.ts'
import { planLaunch } from './launch.ts'
import { readLine } from './read.ts'

/** The agent Claude Code. */
export const claude: Agent = {
  kind: 'claude',
  proof: 'end-event',
  defaultMode: 'headless',
  modes: ['headless'],
  // Claude Code 2.1.325 reports a running tool every 30 s, so ten minutes of silence mean that it has lost its model.
  silence: 10 * 60_000,
  takesPrompt: true,
  program: 'claude',
  validate,
  planLaunch,
  resumeCommand: (program, thread) => [program, '--resume', thread],
  readLine,
  findThread,
  explainExit,
}
