import { type JsonObject, asNumber, asObject, asObjects, asString, joinTextBlocks } from '../shared/json.ts'
import { formatError, formatNote, formatText, formatToolResult } from '../shared/transcript-lines.ts'
import { type ClaudeState, type EventResult, beginTurn, noResult, readEach, textResult, unknownEvent } from './state.ts'
import { addMessageUsage, usageUpdate } from './usage.ts'
import { readServerToolResult, readToolCall, readToolResult } from './tools.ts'
import { NOT_SENT_TO_MODEL } from './turn-result.ts'

/** Reads an answer of the model block by block, or the text that the program writes in its place. */
export function readAssistantMessage(event: JsonObject, state: ClaudeState): EventResult {
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
export function readUserMessage(event: JsonObject, state: ClaudeState): EventResult {
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
