import { boolean } from '../../../lib/codec.ts'
import { formatDuration } from '../../../lib/time.ts'
import type { ParsedLine, ParserState, Observation } from '../../../ports/agent.ts'
import {
  type JsonEvent,
  asNumber,
  asObject,
  asString,
  eventInOutput,
  joinTextBlocks,
  asArray,
} from '../shared/tolerant-json.ts'
import { formatError, formatNote, formatText, summarizeInput } from '../shared/transcript-lines.ts'
import { stateReader, withState } from '../shared/restore-parser-state.ts'
import {
  parsePendingWrites,
  type PendingWrite,
  toolCallEnded,
  toolCallStarted,
  unknownEvent,
  withWritingField,
} from '../shared/tool-calls.ts'
import { classifyError } from './failure.ts'
import type { TurnResult } from '../../../core/session/attempt.ts'
import { toOneLine } from '../../../lib/text/strip-terminal-controls.ts'
import { failedTurn, makeFailure } from '../shared/turn-result.ts'

/** pi's run has ended; and the files that open calls are about to write. */
type PiState = { readonly hasEnded: boolean; readonly writing: readonly PendingWrite[] }

const readFields = stateReader<PiState>(
  { hasEnded: false, writing: [] },
  { hasEnded: boolean, writing: parsePendingWrites },
)

/** Parses a line of `pi --mode json`. */
export const readLine = withState(restoreState, (line, state: PiState): ParsedLine<PiState> => {
  const event = eventInOutput(line)
  if (event === null) return { observations: [], text: formatText(line) }
  if (IGNORED_TYPES.has(event.type)) return { observations: [], text: null }
  const reader = EVENT_READERS.get(event.type)
  return reader === undefined ? unknownEvent(event.type) : reader(event, state)
})

function restoreState(memory: ParserState): PiState {
  return readFields(withWritingField(memory))
}

const IGNORED_TYPES = new Set([
  'turn_start',
  'turn_end',
  'message_start',
  'message_update',
  'tool_execution_update',
  'auto_retry_end', // The end of its run has reported the result.
  'agent_settled',
  'queue_update',
  'entry_appended',
  'session_info_changed',
  'thinking_level_changed',
  'summarization_retry_attempt_start',
  'summarization_retry_finished',
])

const EVENT_READERS = new Map<string, (event: JsonEvent, state: PiState) => ParsedLine<PiState>>([
  ['session', ({ id }) => ({ observations: [{ type: 'threaded', thread: asString(id) }], text: null })],
  ['agent_start', runStarted],
  ['agent_end', runEnded],
  ['message_end', messageEnded],
  ['tool_execution_start', readToolStart],
  ['tool_execution_end', readToolEnd],
  ['auto_retry_start', retryScheduled],
  ['summarization_retry_scheduled', compactionRetryScheduled],
  ['compaction_start', compactionStarted],
  ['compaction_end', compactionEnded],
  [
    'extension_error',
    ({ error }) => ({ observations: [], text: formatError(`an extension failed: ${asString(error)}`) }),
  ],
])

/** pi ends its run at every failure, and begins another run to retry, also after a compaction. */
function runStarted(_event: JsonEvent, state: PiState): ParsedLine<PiState> {
  const observations: Observation[] = state.hasEnded ? [{ type: 'began' }] : []
  return { observations, text: null, memory: { ...state, hasEnded: false } }
}

function runEnded({ messages }: JsonEvent, state: PiState): ParsedLine<PiState> {
  const word = turnResultFrom(messages)
  return {
    observations: [{ type: 'finished', word }],
    text: word.ok ? null : formatError(word.text),
    memory: { ...state, hasEnded: true },
  }
}

function messageEnded({ message: value }: JsonEvent): ParsedLine<never> {
  const message = parseMessage(value)
  if (IGNORED_ROLES.has(message.role)) return { observations: [], text: null }
  if (message.role !== 'assistant') return unknownEvent(`message_end/${message.role}`)
  return { observations: usageUpdate(message.usage), text: formatText(joinTextBlocks(message.content)) }
}

/** Messages from oneshot, tool results (which have their own events), and pi's notes to itself. */
const IGNORED_ROLES = new Set([
  'user',
  'system',
  'toolResult',
  'custom',
  'bashExecution',
  'branchSummary',
  'compactionSummary',
])

function retryScheduled(event: JsonEvent): ParsedLine<never> {
  const failure = classifyError(asString(event['errorMessage']), null)
  return { observations: [{ type: 'retrying', failure }], text: formatNote(`pi tries again ${describeRetry(event)}`) }
}

/** A failed compaction has no run of its own that would report the reason. */
function compactionRetryScheduled(event: JsonEvent): ParsedLine<never> {
  const failure = classifyError(asString(event['errorMessage']), null)
  const text =
    formatError(`summarising the conversation failed: ${failure.text}`) +
    formatNote(`pi tries again ${describeRetry(event)}`)
  return { observations: [{ type: 'retrying', failure }], text }
}

function describeRetry({ attempt, maxAttempts, delayMs }: JsonEvent): string {
  return `in ${formatDuration(asNumber(delayMs))} (${asNumber(attempt)} of ${asNumber(maxAttempts)})`
}

function compactionStarted({ reason }: JsonEvent): ParsedLine<never> {
  return { observations: [], text: formatNote(`the agent summarises the conversation (${asString(reason)})`) }
}

function compactionEnded({ errorMessage, result, aborted }: JsonEvent): ParsedLine<never> {
  const problem = asString(errorMessage) || (aborted === true ? 'interrupted' : '')
  return {
    observations: usageUpdate(asObject(result)['usage']),
    text:
      problem === ''
        ? formatNote('the conversation was summarised')
        : formatError(`summarising the conversation failed: ${problem}`),
  }
}

const WRITING_TOOLS = new Set(['edit', 'write'])

function readToolStart({ toolCallId: id, toolName, args }: JsonEvent, state: PiState): ParsedLine<PiState> {
  const tool = asString(toolName)
  const path = WRITING_TOOLS.has(tool) ? asString(asObject(args)['path']) : ''
  return toolCallStarted({ id: asString(id), tool, summary: summarizeInput(args), path }, state)
}

function readToolEnd({ toolCallId: id, result, isError }: JsonEvent, state: PiState): ParsedLine<PiState> {
  const output = joinTextBlocks(asObject(result)['content'])
  return toolCallEnded(asString(id), { output, isError: isError === true }, state)
}

/** The fields of a pi message that oneshot reads. */
export interface PiMessage {
  readonly role: string
  readonly content: unknown
  readonly stopReason: string
  readonly errorMessage: string
  /** The time at which the message began, in milliseconds since 1970; null without a date. */
  readonly timestamp: number | null
  readonly usage: unknown
}

export function parseMessage(value: unknown): PiMessage {
  const { role, content, stopReason, errorMessage, timestamp, usage } = asObject(value)
  return {
    role: asString(role),
    content,
    stopReason: asString(stopReason),
    errorMessage: asString(errorMessage),
    timestamp: typeof timestamp === 'number' ? timestamp : null,
    usage,
  }
}

/**
 * Returns the turn result from the last answer of a run. pi exits 0 in every case, so only the answer shows the result.
 */
function turnResultFrom(messages: unknown): TurnResult {
  const answer = asArray(messages)
    .map(parseMessage)
    .findLast(message => message.role === 'assistant')
  return answer === undefined
    ? failedTurn(makeFailure('empty', 'pi ended its turn without an answer'))
    : resultOfMessage(answer)
}

function resultOfMessage({ stopReason, errorMessage, content, timestamp }: PiMessage): TurnResult {
  const text = toOneLine(joinTextBlocks(content))
  if (stopReason === 'stop')
    return text === '' ? failedTurn(makeFailure('empty', 'the answer is empty')) : { ok: true, text }
  if (stopReason === 'error' && errorMessage !== '') return failedTurn(classifyError(errorMessage, timestamp))
  return failedTurn(makeFailure('other', STOP_REASON_TEXTS.get(stopReason) ?? `the answer ended with “${stopReason}”`))
}

const STOP_REASON_TEXTS = new Map([
  ['error', 'the request to the model failed'],
  ['aborted', 'the turn was interrupted'],
  ['length', 'the answer was cut off at the length the model may write'],
  ['toolUse', 'the turn ended in the middle of using tools'],
])

/** Returns the usage of a model's answer; empty when there was no answer. */
function usageUpdate(usage: unknown): Observation[] {
  const { input, output, cacheRead, cacheWrite, cost } = asObject(usage)
  const read = asNumber(input) + asNumber(cacheRead) + asNumber(cacheWrite)
  if (read + asNumber(output) === 0) return []
  // pi reports a cost of 0 for a model with an unknown price.
  const usd = asNumber(asObject(cost)['total']) || null
  const spending = { input: read, cached: asNumber(cacheRead), output: asNumber(output), usd, turns: 1 }
  return [{ type: 'spent', scope: 'step', spending }]
}
