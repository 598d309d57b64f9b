import type { ParserState, ParsedLine } from '../../../ports/agent.ts'
import { asNumber, eventInOutput, type JsonObject, type JsonEvent, asObject } from '../shared/json.ts'
import { formatText } from '../shared/transcript-lines.ts'
import { readAssistantMessage } from './messages.ts'
import { type ClaudeState, noResult, restoreState, type EventResult, unknownEvent } from './state.ts'
import { IGNORED_TYPES } from './ignored-events.ts'
import { readSystemMessage } from './system-message.ts'
import { readTurnResult } from './turn-result.ts'
import { readUserMessage } from './messages.ts'

/** Parses a line of `claude -p --output-format stream-json`. */
export function readLine(line: string, memory: ParserState): ParsedLine {
  const event = eventInOutput(line)
  if (event === null) return { observations: [], text: formatText(line) }
  const state = restoreState(memory)
  const { observations, text, state: newState } = readEvent(event, state)
  return { observations, text, ...(newState !== state && { memory: newState }) }
}

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
