import type { Agent, LaunchPlan, LaunchRequest, ExitEvidence } from '../../../ports/agent.ts'
import { findThread } from './find-thread.ts'
import { validate } from './validate-launch.ts'
import { readLine } from './parse-output.ts'
import type { TurnResult } from '../../../core/session/attempt.ts'
import type { Autonomy } from '../../../core/session/session-state.ts'
import type { Failure } from '../../../core/session/failure.ts'
import { toOneLine } from '../../../lib/text/strip-terminal-controls.ts'
import { failedTurn, makeFailure } from '../shared/turn-result.ts'
import { restoreState } from './parser-state.ts'
import { THREAD_LOST } from './turn-result.ts'

/** The agent Claude Code. */
export const claude: Agent = {
  kind: 'claude',
  proof: 'end-event',
  defaultMode: 'headless',
  modes: ['headless'],
  // Claude Code 2.1.325 reports a running tool every 30 s, so ten minutes of silence mean that it has lost its model.
  silence: 10 * 60_000,
  takesPrompt: true,
  program: 'claude',
  validate,
  planLaunch,
  resumeCommand: (program, thread) => [program, '--resume', thread],
  readLine,
  findThread,
  explainExit,
}

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

/**
 * Explains an exit for which claude reported no turn result. An exit without any message stays a crash, even an exit 0
 * after an interrupt.
 */
export function explainExit({ exit, word, stderr, memory }: ExitEvidence): TurnResult | null {
  if (word !== null || exit.kind !== 'code') return null
  // Claude Code waits ten minutes for its background tasks, then ends them and itself.
  const { isHeld, word: held } = restoreState(memory)
  if (exit.code === 0) return isHeld ? held : null
  const failure = findStderrFailure(stderr)
  return failure === null ? null : failedTurn(failure)
}

function findStderrFailure(stderr: string): Failure | null {
  for (const line of stderr.split('\n').map(toOneLine)) {
    if (THREAD_LOST.test(line)) return makeFailure('thread-lost', line)
    // If a kill came before claude saved the first message, it can neither resume the thread nor begin one with that
    // id.
    if (/^Error: Session ID \S+ is already in use/.test(line)) return makeFailure('thread-lost', line)
    if (line.includes('cannot be used with root/sudo')) return makeFailure('setup', line, ROOT_REMEDY)
    if (SETUP_ERRORS.test(line)) return makeFailure('setup', line)
  }
  return null
}

const ROOT_REMEDY =
  'give it IS_SANDBOX=1 if this machine is a sandbox, or --autonomy edits, or run it as an ordinary user'

const SETUP_ERRORS =
  /^error: |^Error: (?:Settings file not found|Invalid MCP configuration|Invalid session ID|Input must be provided)|^--agent '.*' not found/
