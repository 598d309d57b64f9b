import type { Agent } from '../../../ports/agent.ts'
import { explainExit } from './explain-exit.ts'
import { findThread } from './find-thread.ts'
import { validate } from './validate.ts'
import { planLaunch } from './launch.ts'
import { readLine } from './read.ts'

/** OpenAI's codex, run as `codex exec --json`: one turn for each process. */
export const codex: Agent = {
  kind: 'codex',
  proof: 'end-event',
  defaultMode: 'headless',
  modes: ['headless'],
  // codex 0.166 writes nothing while a tool runs, and waits 5 min for each answer.
  silence: 15 * 60_000,
  takesPrompt: true,
  program: 'codex',
  validate,
  planLaunch,
  resumeCommand: (program, thread) => [program, 'exec', 'resume', thread, 'Continue.'],
  readLine: (line, memory) => readLine(line, memory, Date.now()),
  findThread,
  explainExit: evidence => explainExit(evidence, Date.now()),
}
