import type { Agent } from '../../../ports/agent.ts'
import { explainExit } from './explain-exit.ts'
import { findThread } from './find-thread.ts'
import { validate } from './validate.ts'
import { planLaunch } from './launch.ts'
import { readLine } from './read.ts'

/** The coding agent pi. `thin` is the path of drop-updates.cjs. */
export function pi({ thin: filter }: { thin: string }): Agent {
  return {
    kind: 'pi',
    proof: 'end-event',
    defaultMode: 'headless',
    modes: ['headless'],
    // pi 0.73 waits 10 min for each answer.
    silence: 15 * 60_000,
    takesPrompt: true,
    program: 'pi',
    validate,
    planLaunch: request => planLaunch(request, filter),
    resumeCommand: (program, thread) => [program, '--session', thread],
    readLine,
    findThread,
    explainExit,
  }
}
