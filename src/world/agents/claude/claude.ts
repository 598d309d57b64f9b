import type { Agent } from '../../../ports/agent.ts'
import { explain } from './explain.ts'
import { find } from './find.ts'
import { objection } from './objection.ts'
import { plan } from './plan.ts'
import { read } from './read.ts'

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
  objection,
  plan,
  byHand: (program, thread) => [program, '--resume', thread],
  read,
  find,
  explain,
}
