import type { Agent } from '../../../ports/agent.ts'
import { explain } from './explain.ts'
import { find } from './find.ts'
import { objection } from './objection.ts'
import { plan } from './plan.ts'
import { read } from './read.ts'

/** opencode, by `opencode run --format json`: one turn for each process, whose end is the end of the process. */
export const opencode: Agent = {
  kind: 'opencode',
  proof: 'end-event',
  defaultMode: 'headless',
  modes: ['headless'],
  // It tries again in silence, 5 min for each time (1.18).
  silence: 15 * 60_000,
  takesPrompt: true,
  program: 'opencode',
  objection,
  plan,
  byHand: (program, thread) => [program, 'run', '--session', thread, 'Continue.'],
  read,
  find,
  explain,
}
