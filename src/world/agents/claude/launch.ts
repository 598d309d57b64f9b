import type { Autonomy } from '../../../core/session/session.ts'
import type { LaunchPlan, LaunchRequest } from '../../../ports/agent.ts'

/** Puts the caller's own arguments last: claude obeys the later one of two equal options. */
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

/** Claude Code 2.1.325 calls the asking mode `manual` and still accepts `default`; 2.1.197 knows only `default`. */
const AUTONOMY_ARGUMENTS: Readonly<Record<Autonomy, readonly string[]>> = {
  full: ['--dangerously-skip-permissions'],
  edits: ['--permission-mode', 'acceptEdits'],
  ask: ['--permission-mode', 'default'],
}

/** In dollars. claude refuses a budget of 0, and 0 as a number of turns would mean no limit. */
const SMALLEST_BUDGET = 0.01
