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
  takesPrompt: true,
  program: 'claude',
  objection,
  plan,
  read,
  find,
  explain,
}
