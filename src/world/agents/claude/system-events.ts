import { headAndTail } from '../../../lib/text/head-and-tail.ts'
import { formatDuration } from '../../../lib/time.ts'
import { asNumber, type JsonObject, asObject, asString } from '../shared/tolerant-json.ts'
import { formatError, formatNote } from '../shared/transcript-lines.ts'
import { classifyApiError } from './api-error.ts'
import { beginTurn, type ClaudeState, noResult, type EventResult, unknownEvent, textResult } from './parser-state.ts'
import { IGNORED_SYSTEM_SUBTYPES } from './ignored-events.ts'
import { tasksListed, taskEnded, taskStarted, taskUpdated } from './background-tasks.ts'
import { NOT_SENT_TO_MODEL } from './turn-result.ts'

/** Reads a message that the program writes about itself. */
export function readSystemMessage(event: JsonObject, state: ClaudeState): EventResult {
  const subtype = asString(event['subtype'])
  const reader = SYSTEM_READERS.get(subtype)
  if (reader !== undefined) return reader(event, state)
  return IGNORED_SYSTEM_SUBTYPES.has(subtype) ? noResult(state) : unknownEvent(`system/${subtype}`, state)
}

const SYSTEM_READERS = new Map<string, (event: JsonObject, state: ClaudeState) => EventResult>([
  ['init', turnStarted],
  ['api_retry', apiRetry],
  [
    'permission_denied',
    ({ tool_name }, state) => textResult(formatError(`${asString(tool_name)} was not allowed`), state),
  ],
  ['task_started', taskStarted],
  ['task_updated', taskUpdated],
  ['task_notification', taskEnded],
  ['background_tasks_changed', tasksListed],
  ['compact_boundary', conversationCompacted],
  ['informational', informationalMessage],
  ['notification', notificationMessage],
  ['model_fallback', modelFallback],
  ['model_refusal_fallback', modelFallback],
  ['model_consent_fallback', modelFallback],
  ['session_writes_lost', writesLost],
])

/** claude sends this message at the beginning of every turn. */
function turnStarted(event: JsonObject, state: ClaudeState): EventResult {
  const turn = beginTurn(state)
  const thread = asString(event['session_id'])
  const isFirst = state.cwd === ''
  return {
    observations: [...turn.observations, ...(thread === '' ? [] : [{ type: 'threaded' as const, thread }])],
    text: isFirst ? formatNote(`claude ${asString(event['claude_code_version'])}, ${asString(event['model'])}`) : null,
    state: { ...turn.state, cwd: asString(event['cwd']) },
  }
}

function apiRetry(event: JsonObject, state: ClaudeState): EventResult {
  const status = event['error_status']
  const error = asString(event['error'])
  const apiError = { error, status: typeof status === 'number' ? status : null, words: '' }
  const reason = apiError.status === null ? 'the connection failed' : `${apiError.status} ${error.replaceAll('_', ' ')}`
  const failure = { ...classifyApiError(apiError), text: reason, remedy: null }
  const when = `in ${formatDuration(asNumber(event['retry_delay_ms']))}`
  const count = `${asNumber(event['attempt'])} of ${asNumber(event['max_retries'])}`
  return {
    observations: [{ type: 'retrying', failure }],
    text: formatNote(`${reason}; claude tries again ${when} (${count})`),
    state,
  }
}

function conversationCompacted(event: JsonObject, state: ClaudeState): EventResult {
  const { pre_tokens, post_tokens } = asObject(event['compact_metadata'])
  const size = asNumber(post_tokens) === 0 ? '' : `: ${asNumber(pre_tokens)} tokens became ${asNumber(post_tokens)}`
  return textResult(formatNote(`the conversation was summarised${size}`), state)
}

function informationalMessage({ level, content }: JsonObject, state: ClaudeState): EventResult {
  if (NOT_SENT_TO_MODEL.test(asString(content))) return noResult(state) // The end of the turn reports it.
  return textResult(level === 'warning' || level === 'notice' ? noteFrom(content) : null, state)
}

function notificationMessage({ priority, text: sentence }: JsonObject, state: ClaudeState): EventResult {
  return textResult(priority === 'high' || priority === 'immediate' ? noteFrom(sentence) : null, state)
}

/** Reports that claude changed to another model. */
function modelFallback({ content }: JsonObject, state: ClaudeState): EventResult {
  return textResult(noteFrom(content), state)
}

function writesLost({ error_code }: JsonObject, state: ClaudeState): EventResult {
  return textResult(formatError(`it could not save all of its conversation: ${asString(error_code)}`), state)
}

/** In characters, for each end of the sentence. */
const MAX_NOTE_LENGTH = 2_048

function noteFrom(content: unknown): string | null {
  const sentence = headAndTail(asString(content), MAX_NOTE_LENGTH).replace(/ · ctrl\+.*/s, '')
  return sentence === '' ? null : formatNote(sentence)
}
