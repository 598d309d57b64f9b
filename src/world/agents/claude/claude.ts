import type { Agent } from '../../../ports/agent.ts'
import { explain } from './explain.ts'
import { find } from './find.ts'
import { objection } from './objection.ts'
import { plan } from './plan.ts'
import { read } from './read.ts'
import { LOGIN } from './remedy.ts'

/** Claude Code. */
export const claude: Agent = {
  kind: 'claude',
  proof: 'end-event',
  defaultMode: 'headless',
  modes: ['headless'],
  takesPrompt: true,
  program: 'claude',
  manual: { install: 'npm install -g @anthropic-ai/claude-code', login: LOGIN, tried: ['2.1.197', '2.1.325'] },
  objection,
  plan,
  read,
  find,
  explain,
}
