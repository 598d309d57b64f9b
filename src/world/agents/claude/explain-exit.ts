import type { Failure } from '../../../core/session/failure.ts'
import type { TurnResult } from '../../../core/session/session.ts'
import { toOneLine } from '../../../lib/text/terminal-text.ts'
import type { ExitEvidence } from '../../../ports/agent.ts'
import { failedTurn, makeFailure } from '../shared/failed-turn.ts'
import { restoreState, storedTurnResult } from './state.ts'
import { THREAD_LOST } from './turn-result.ts'

/**
 * Explains an exit for which claude reported no turn result. An exit without any message stays a crash, even an exit 0
 * after an interrupt.
 */
export function explainExit({ exit, word, stderr, memory }: ExitEvidence): TurnResult | null {
  if (word !== null || exit.kind !== 'code') return null
  // Claude Code waits ten minutes for its background tasks, then ends them and itself.
  if (exit.code === 0) return restoreState(memory).isHeld ? storedTurnResult(restoreState(memory)) : null
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
