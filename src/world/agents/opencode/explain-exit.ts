import type { Failure } from '../../../core/session/failure.ts'
import type { TurnResult } from '../../../core/session/session.ts'
import { renderTerminalText } from '../../../lib/text/terminal-text.ts'
import type { ExitEvidence } from '../../../ports/agent.ts'
import { failedTurn, makeFailure } from '../shared/failed-turn.ts'

/** Explains an exit for which opencode reported no turn result, or a wrong one. */
export function explainExit({ exit, word, stderr, memory }: ExitEvidence): TurnResult | null {
  if (exit.kind !== 'code' || word?.ok === false) return null
  const lines = renderTerminalText(stderr, { colour: false }).split('\n')
  const unexplained = word === null ? (findStderrFailure(lines) ?? findUnfinishedTurn(exit.code, memory)) : null
  const failure = findDenial(lines) ?? unexplained
  return failure === null ? null : failedTurn(failure)
}

const PERMISSION_REQUESTED = 'permission requested: '
const AUTO_REJECTED = '; auto-rejecting'

/** Only stderr shows refusals of subagents' calls. */
function findDenial(lines: readonly string[]): Failure | null {
  const request = lines.findLast(
    line => line.lastIndexOf(AUTO_REJECTED) > line.indexOf(PERMISSION_REQUESTED) && line.includes(PERMISSION_REQUESTED),
  )
  if (request === undefined) return null
  const from =
    request.lastIndexOf(PERMISSION_REQUESTED, request.lastIndexOf(AUTO_REJECTED)) + PERMISSION_REQUESTED.length
  const what = request.slice(from, request.indexOf(AUTO_REJECTED, from))
  return makeFailure('denied', `opencode was refused ${what}`, 'give the session more autonomy')
}

/** Finds the error that opencode prints when it exits before a turn began. */
function findStderrFailure(lines: readonly string[]): Failure | null {
  for (const line of lines) {
    if (line.startsWith('Error: Session not found')) return makeFailure('thread-lost', line)
    if (SETUP_ERRORS.test(line)) return makeFailure('setup', line)
    if (line.startsWith('opencode run [message..]')) {
      return makeFailure('setup', 'opencode prints its help: it does not know an argument it was given')
    }
  }
  return null
}

const SETUP_ERRORS =
  /^Error: (?:Config|.*not valid JSON|You must provide a message|File not found|Failed to change directory)/

/** opencode 1.18.33 exits 0 when its turn stops after tool calls. */
function findUnfinishedTurn(code: number, memory: ExitEvidence['memory']): Failure | null {
  if (code !== 0 || typeof memory['thread'] !== 'string') return null
  return makeFailure('empty', 'opencode ended in the midst of its work, after it had called tools')
}
