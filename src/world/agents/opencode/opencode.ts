import type { Agent } from '../../../ports/agent.ts'
import { explainExit } from './explain-exit.ts'
import { findThread } from './find-thread.ts'
import { validate } from './validate.ts'
import { planLaunch } from './launch.ts'
import { readLine } from './read.ts'

/** opencode, run as `opencode run --format json`: one turn for each process; the turn ends when the process exits. */
export const opencode: Agent = {
  kind: 'opencode',
  proof: 'end-event',
  defaultMode: 'headless',
  modes: ['headless'],
  // opencode 1.18 retries in silence, 5 min for each try.
  silence: 15 * 60_000,
  takesPrompt: true,
  program: 'opencode',
  validate,
  planLaunch,
  resumeCommand: (program, thread) => [program, 'run', '--session', thread, 'Continue.'],
  readLine,
  findThread,
  explainExit,
}
