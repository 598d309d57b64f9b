import type { Agent } from '../../../ports/agent.ts'
import { explain } from './explain.ts'
import { find } from './find.ts'
import { objection } from './objection.ts'
import { plan } from './plan.ts'
import { read } from './read.ts'

/** The coding agent pi. `thin` is where thin.cjs lies. */
export function pi({ thin }: { thin: string }): Agent {
  return {
    kind: 'pi',
    proof: 'end-event',
    defaultMode: 'headless',
    modes: ['headless'],
    // It waits 10 min for each answer (0.73).
    silence: 15 * 60_000,
    takesPrompt: true,
    program: 'pi',
    objection,
    plan: request => plan(request, thin),
    byHand: (program, thread) => [program, '--session', thread],
    read,
    find,
    explain,
  }
}
