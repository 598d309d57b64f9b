import type { Failure } from '../../../core/session/failure.ts'
import type { TurnResult } from '../../../core/session/attempt.ts'
import { toOneLine } from '../../../lib/text/strip-terminal-controls.ts'
import { type JsonObject, asObject, asObjects, asArray, asString } from '../shared/tolerant-json.ts'
import { failedTurn, makeFailure } from '../shared/turn-result.ts'
import { formatError, summarizeInput, formatNote, formatText } from '../shared/transcript-lines.ts'
import { classifyApiError } from './api-error.ts'
import { type ClaudeState, noResult, type EventResult } from './parser-state.ts'
import { mergeResultUsage, usageUpdate } from './usage.ts'
import type { ApiError } from './api-error.ts'

/**
 * Reads the end of a turn. Neither an exit code of 0 nor the subtype `success` proves anything: failed requests have
 * them too.
 */
export function readTurnResult(result: JsonObject, before: ClaudeState): EventResult {
  if (isTaskNotification(result)) return repeatTurnResult(before)
  const state = mergeResultUsage(result, before)
  const usage = usageUpdate(state)
  const ended = { ...state, hasEnded: true, trouble: '' }
  if (isInterrupted(result)) return { observations: [usage], text: null, state: ended }
  const word = turnResultFrom(result, state)
  const text = resultText(word, result, state)
  const newState = { ...ended, word }
  const { length } = state.tasks
  if (length === 0) return { observations: [usage, { type: 'finished', word }], text: text, state: newState }
  const waiting = formatNote(`waiting for ${length === 1 ? 'a background task' : `${length} background tasks`}`)
  return { observations: [usage], text: (text ?? '') + waiting, state: { ...newState, isHeld: true } }
}

/** When a task ended with the previous process, claude writes a note for the model and reports it like a turn. */
function isTaskNotification(result: JsonObject): boolean {
  const isNote = asObject(result['origin'])['kind'] === 'task-notification'
  return isNote && result['num_turns'] === 0 && result['is_error'] !== true && asString(result['result']) === ''
}

function repeatTurnResult(state: ClaudeState): EventResult {
  const { word } = state
  return word === null ? noResult(state) : { observations: [{ type: 'finished', word }], text: null, state }
}

/** An interrupted turn is not over: it counts as if the program had died in it, as Claude Code 2.1.197 often does. */
function isInterrupted(result: JsonObject): boolean {
  return asString(result['terminal_reason']).startsWith('aborted_') || result['interrupted_by_shutdown'] === true
}

function turnResultFrom(result: JsonObject, state: ClaudeState): TurnResult {
  const failure = failureFrom(result, state)
  if (failure !== null) return failedTurn(failure)
  return { ok: true, text: toOneLine(asString(result['result'])) || 'the command was carried out' }
}

/** The transcript does not repeat an error or an answer that it already shows. */
function resultText(word: TurnResult, result: JsonObject, state: ClaudeState): string | null {
  if (!word.ok && state.trouble !== '') return null
  if (!word.ok) return formatError(word.failure.kind === 'denied' ? `it was not allowed: ${word.text}` : word.text)
  return state.hasSpoken ? null : formatText(asString(result['result']))
}

function failureFrom(result: JsonObject, state: ClaudeState): Failure | null {
  const words = asString(result['result']) || errorText(result)
  const subtype = asString(result['subtype'])
  if (/^error_max_(?:turns|budget_usd)$/.test(subtype)) return makeFailure('budget', words)
  if (result['is_error'] !== true && subtype === 'success') return findFalseSuccess(result, state, words)
  return THREAD_LOST.test(words)
    ? makeFailure('thread-lost', words)
    : classifyApiError(apiErrorFrom(result, state, words))
}

export const THREAD_LOST = /No conversation found with session ID|--resume requires a valid session ID/

function errorText({ errors }: JsonObject): string {
  const messages = asArray(errors)
    .map(asString)
    .filter(error => !error.startsWith('[ede_diagnostic]'))
  return messages.join('; ') || 'it ended its turn with an error and said no more'
}

function apiErrorFrom(result: JsonObject, state: ClaudeState, words: string): ApiError {
  const status = result['api_error_status']
  return {
    error: state.trouble,
    code: asString(result['api_error']),
    status: typeof status === 'number' ? status : null,
    reason: asString(result['terminal_reason']),
    words,
    resetAt: state.resetAt,
  }
}

/** Finds the failure behind a reported success. */
function findFalseSuccess(result: JsonObject, state: ClaudeState, words: string): Failure | null {
  const denied = asObjects(result['permission_denials']).filter(
    ({ tool_use_id }) => !state.hooked.includes(asString(tool_use_id)),
  )
  if (denied.length > 0) return makeFailure('denied', describeDenied(denied), AUTONOMY_REMEDY)
  if (result['num_turns'] === 0 && NOT_SENT_TO_MODEL.test(words)) return makeFailure('setup', words)
  // One of the program's own commands need not print anything.
  const isCommand = result['num_turns'] === 0 && (state.hasSpoken || asString(result['local_command']) !== '')
  if (asString(result['result']).trim() === '' && !isCommand) return makeFailure('empty', 'its last answer is empty')
  return null
}

const AUTONOMY_REMEDY = 'give it more autonomy with --autonomy, or allow the tool in its own settings'

/** The program never asked the model. 2.1.197: an unknown `/word`; 2.1.197 and 2.1.325: a hook of the user's own. */
export const NOT_SENT_TO_MODEL = /^Unknown (?:slash )?(?:command|skill):|^UserPromptSubmit operation blocked/

function describeDenied(denied: readonly JsonObject[]): string {
  const [first = {}] = denied
  const more = denied.length === 1 ? '' : ` and ${denied.length - 1} more`
  return `${asString(first['tool_name'])} ${summarizeInput(first['tool_input'])}`.trim() + more
}
