import type { Agent } from '../../../ports/agent.ts'
import { explain } from './explain.ts'
import { find } from './find.ts'
import { objection } from './objection.ts'
import { plan } from './plan.ts'
import { read } from './read.ts'

/** OpenAI's codex, by `codex exec --json`: one turn for each process. */
export const codex: Agent = {
  kind: 'codex',
  proof: 'end-event',
  defaultMode: 'headless',
  modes: ['headless'],
  // It is quiet for as long as a tool runs, and waits 5 min for each answer (0.166).
  silence: 15 * 60_000,
  takesPrompt: true,
  program: 'codex',
  objection,
  plan,
  byHand: (program, thread) => [program, 'exec', 'resume', thread, 'Continue.'],
  read: (line, memory) => read(line, memory, Date.now()),
  find,
  explain: ending => explain(ending, Date.now()),
}
