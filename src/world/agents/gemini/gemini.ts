import type { Agent } from '../../../ports/agent.ts'
import { explain } from './explain.ts'
import { find } from './find.ts'
import { objection } from './objection.ts'
import { plan } from './plan.ts'
import { read } from './read.ts'

/** The Gemini CLI. Its ids are of our choosing. */
export const gemini: Agent = {
  kind: 'gemini',
  proof: 'end-event',
  defaultMode: 'headless',
  modes: ['headless'],
  // It is quiet for as long as a tool runs (0.61).
  silence: 15 * 60_000,
  takesPrompt: true,
  program: 'gemini',
  objection,
  plan,
  byHand: (program, thread) => [program, '--resume', thread],
  read,
  find,
  explain,
}
