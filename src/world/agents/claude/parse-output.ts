import type { ParsedLine } from '../../../ports/agent.ts'
import { withState } from '../shared/restore-parser-state.ts'
import {
  asNumber,
  eventInOutput,
  type JsonObject,
  type JsonEvent,
  asObject,
  asObjects,
  asString,
  joinTextBlocks,
} from '../shared/tolerant-json.ts'
import { formatText, formatError, formatNote, formatToolResult } from '../shared/transcript-lines.ts'
import {
  type ClaudeState,
  noResult,
  restoreState,
  type EventResult,
  unknownEvent,
  beginTurn,
  readEach,
  textResult,
} from './parser-state.ts'
import { IGNORED_TYPES } from './ignored-events.ts'
import { readSystemMessage } from './system-events.ts'
import { readTurnResult, NOT_SENT_TO_MODEL } from './turn-result.ts'
import { addMessageUsage, usageUpdate } from './usage.ts'
import { readServerToolResult, readToolCall, readToolResult } from './tools.ts'

/** Parses a line of `claude -p --output-format stream-json`. */
export const readLine = withState(restoreState, (line, state: ClaudeState): ParsedLine<ClaudeState> => {
  const event = eventInOutput(line)
  if (event === null) return { observations: [], text: formatText(line) }
  const { observations, text, state: newState } = readEvent(event, state)
  return { observations, text, ...(newState !== state && { memory: newState }) }
})

function readEvent(event: JsonEvent, state: ClaudeState): EventResult {
  const reader = EVENT_READERS.get(event.type)
  if (reader !== undefined) return reader(event, state)
  return IGNORED_TYPES.has(event.type) ? noResult(state) : unknownEvent(event.type, state)
}

const EVENT_READERS = new Map<string, (event: JsonObject, state: ClaudeState) => EventResult>([
  ['system', readSystemMessage],
  ['assistant', readAssistantMessage],
  ['user', readUserMessage],
  ['result', readTurnResult],
  ['rate_limit_event', readRateLimit],
])

/**
 * claude sends this event whenever the state of a subscription's limits changes, mostly for the better. `resetsAt` is
 * in seconds since 1970.
 */
function readRateLimit(event: JsonObject, state: ClaudeState): EventResult {
  const { status, resetsAt } = asObject(event['rate_limit_info'])
  const resetAt = status === 'rejected' ? asNumber(resetsAt) * 1000 || null : null
  return noResult({ ...state, resetAt })
}

/** Reads an answer of the model block by block, or the text that the program writes in its place. */
function readAssistantMessage(event: JsonObject, state: ClaudeState): EventResult {
  const message = asObject(event['message'])
  const isMain = typeof event['parent_tool_use_id'] !== 'string'
  if (message['model'] === '<synthetic>')
    return readSyntheticMessage(event, joinTextBlocks(message['content']), isMain, state)
  const turn = isMain ? beginTurn(state) : noResult(state)
  const counted = addMessageUsage(message, isMain, turn.state)
  const blocks = readEach(asObjects(message['content']), (block, current) => readBlock(block, isMain, current), counted)
  const spending = counted === turn.state ? [] : [usageUpdate(counted)]
  return { ...blocks, observations: [...turn.observations, ...spending, ...blocks.observations] }
}

function readBlock(block: JsonObject, isMain: boolean, state: ClaudeState): EventResult {
  const type = asString(block['type'])
  if (type === 'text') return readText(asString(block['text']), isMain, state)
  if (CALL_TYPES.has(type)) return readToolCall(block, isMain, state)
  if (THINKING_TYPES.has(type)) return noResult(state)
  return type.endsWith('_tool_result') ? readServerToolResult(block, state) : unknownEvent(`assistant/${type}`, state)
}

const CALL_TYPES = new Set(['tool_use', 'server_tool_use', 'mcp_tool_use'])
const THINKING_TYPES = new Set(['thinking', 'redacted_thinking'])

function readText(sentence: string, isMain: boolean, state: ClaudeState): EventResult {
  if (!isMain) return textResult(formatToolResult(sentence), state)
  const line = formatText(sentence)
  return textResult(line, line === null || state.hasSpoken ? state : { ...state, hasSpoken: true })
}

/** Reads a failure, or the output of one of the program's own commands. */
function readSyntheticMessage(event: JsonObject, sentence: string, isMain: boolean, state: ClaudeState): EventResult {
  const error = asString(event['error'])
  if (!isMain) return textResult(formatToolResult(sentence, error !== ''), state)
  if (error === '') return isWorthShowing(sentence) ? readText(sentence, true, state) : noResult(state)
  const limit = asObject(asObject(event['api_error_params'])['rate_limit_info'])
  const resetAt = asNumber(limit['resetsAt']) * 1000 || state.resetAt
  return textResult(formatError(sentence), { ...state, trouble: error, resetAt })
}

/** The end of the turn reports an unknown command, so the transcript need not show it. */
function isWorthShowing(sentence: string): boolean {
  return sentence !== '(no content)' && !NOT_SENT_TO_MODEL.test(sentence)
}

/**
 * Reads an input to the model: a tool result or a note of the program. oneshot already knows the messages of people.
 */
function readUserMessage(event: JsonObject, state: ClaudeState): EventResult {
  const { content } = asObject(event['message'])
  if (typeof content === 'string') return readNote(content, state)
  const isMain = typeof event['parent_tool_use_id'] !== 'string'
  return readEach(asObjects(content), (block, current) => readUserBlock(block, event, isMain, current), state)
}

function readUserBlock(block: JsonObject, event: JsonObject, isMain: boolean, state: ClaudeState): EventResult {
  const type = asString(block['type'])
  if (type === 'tool_result') return readToolResult(block, event, isMain, state)
  if (type === 'text') return isMain ? readNote(asString(block['text']), state) : noResult(state)
  return ATTACHMENT_TYPES.has(type) ? noResult(state) : unknownEvent(`user/${type}`, state)
}

const ATTACHMENT_TYPES = new Set(['image', 'document', 'file'])

function readNote(sentence: string, state: ClaudeState): EventResult {
  const output = /^<local-command-std(?:out|err)>(.*)<\/local-command-std(?:out|err)>$/s.exec(sentence.trim())?.[1]
  if (output !== undefined) return textResult(formatText(output), { ...state, hasSpoken: true })
  if (sentence.startsWith('[Request interrupted by user')) return textResult(formatNote('interrupted'), state)
  return textResult(sentence.startsWith('Stop hook feedback:') ? formatNote(sentence) : null, state)
}
