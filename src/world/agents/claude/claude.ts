import type { Agent } from '../../../ports/agent.ts'
import { explainExit } from './explain-exit.ts'
import { findThread } from './find-thread.ts'
import { validate } from './validate.ts'
import { planLaunch } from './launch.ts'
import { readLine } from './read.ts'

/** Claude Code. */
export const claude: Agent = {
  kind: 'claude',
  proof: 'end-event',
  defaultMode: 'headless',
  modes: ['headless'],
  // It tells of a running tool every 30 s (2.1.325), so ten minutes of nothing mean that its model is gone.
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
