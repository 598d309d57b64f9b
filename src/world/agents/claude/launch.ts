import type { Autonomy } from '../../../core/session/session.ts'
import type { LaunchPlan, LaunchRequest } from '../../../ports/agent.ts'

/** The caller's own arguments come last: where an option is given twice, the program goes by the later one. */
export function planLaunch({ argv, resume, tag, autonomy, model, effort, budget }: LaunchRequest): LaunchPlan {
  const [program = 'claude', ...own] = argv
  return {
    argv: [
      program,
      '-p',
      '--output-format',
      'stream-json',
      '--verbose',
      ...AUTONOMY_ARGUMENTS[autonomy],
      ...(resume === null ? ['--session-id', tag] : ['--resume', resume]),
      ...(model === null ? [] : ['--model', model]),
      ...(effort === null ? [] : ['--effort', effort]),
      ...(budget.usd === null ? [] : ['--max-budget-usd', String(Math.max(budget.usd, SMALLEST_BUDGET))]),
      ...(budget.turns === null ? [] : ['--max-turns', String(Math.max(Math.floor(budget.turns), 1))]),
      ...own,
    ],
    env: {},
    stdin: 'text',
  }
}

/** 2.1.325 calls the mode that asks `manual` and still knows it as `default`; 2.1.197 knows it only so. */
const AUTONOMY_ARGUMENTS: Readonly<Record<Autonomy, readonly string[]>> = {
  full: ['--dangerously-skip-permissions'],
  edits: ['--permission-mode', 'acceptEdits'],
  ask: ['--permission-mode', 'default'],
}

/** In dollars. 0 is refused as a budget, and as a number of turns it would mean no limit. */
const SMALLEST_BUDGET = 0.01
