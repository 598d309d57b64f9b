import { NO_USAGE } from '../../../core/session/usage.ts'
import { boolean, fields, listOf, nullable, object, string, tryParseJson } from '../../../lib/codec.ts'
import { renderTerminalText, toOneLine } from '../../../lib/text/strip-terminal-controls.ts'
import type { Observation, ParsedLine, ParserState } from '../../../ports/agent.ts'
import { stateReader, withState } from '../shared/restore-parser-state.ts'
import {
  parsePendingWrites,
  type PendingWrite,
  toolCallEnded,
  toolCallStarted,
  unknownEvent,
  withWritingField,
} from '../shared/tool-calls.ts'
import {
  type JsonEvent,
  type JsonObject,
  asNumber,
  asObject,
  asObjects,
  asString,
  eventInOutput,
} from '../shared/tolerant-json.ts'
import { plannedTasks } from '../shared/todo-list.ts'
import { formatError, formatNote, formatText, summarizeInput } from '../shared/transcript-lines.ts'
import type { TurnResult } from '../../../core/session/attempt.ts'
import type { Instant } from '../../../lib/time.ts'
import { failedTurn, makeFailure } from '../shared/turn-result.ts'
import { classifyError } from './failure.ts'

/** In characters. The turn result needs no more of an answer. */
const MAX_ANSWER = 2000

type GeminiState = {
  /** The answer since the last tool call. */
  readonly answer: string
  /** The rest of a line of the answer that the transcript does not show yet; null without one. */
  readonly unsaid: string | null
  readonly isAnswering: boolean
  /** The last error that gemini reported. */
  readonly error: string | null
  readonly writing: readonly PendingWrite[]
  /** The plans of open calls. */
  readonly planning: readonly { readonly call: string; readonly todos: readonly JsonObject[] }[]
}

const readFields = stateReader<GeminiState>(
  { answer: '', unsaid: null, isAnswering: false, error: null, writing: [], planning: [] },
  {
    answer: string,
    unsaid: nullable(string),
    isAnswering: boolean,
    error: nullable(string),
    writing: parsePendingWrites,
    planning: listOf(object({ call: string, todos: listOf(fields) })),
  },
)

function restoreState(memory: ParserState): GeminiState {
  return readFields(withPlanningField(withWritingField(memory)))
}

/** Moves the plans to the field `planning`. Older versions wrote a field `planning <call>` with JSON for each. */
function withPlanningField(memory: ParserState): ParserState {
  const prefix = 'planning '
  const names = Object.keys(memory).filter(name => name.startsWith(prefix))
  if (names.length === 0) return memory
  const planning = names.map(name => ({
    call: name.slice(prefix.length),
    todos: tryParseJson(asString(memory[name]), asObjects) ?? [],
  }))
  return { ...memory, planning }
}

/** Parses a line of `gemini --output-format stream-json`. */
export const readLine = withState(restoreState, (line, state: GeminiState): ParsedLine<GeminiState> => {
  const event = eventInOutput(line)
  if (event === null) return { observations: [], text: formatText(line) }
  if (event.type === 'message' && event['role'] === 'assistant') return readAnswerPart(event, state)
  const others = { ...state, unsaid: null }
  const reading = EVENT_READERS.get(event.type)?.(event, others) ?? unknownEvent(event.type)
  if (state.unsaid === null) return reading
  const before = formatText(state.unsaid) ?? ''
  return { ...reading, text: `${before}${reading.text ?? ''}` || null, memory: reading.memory ?? others }
})

const EVENT_READERS = new Map<string, (event: JsonEvent, state: GeminiState) => ParsedLine<GeminiState>>([
  ['init', ({ session_id: id }) => ({ observations: [{ type: 'threaded', thread: asString(id) }], text: null })],
  [
    'message',
    ({ role }) => (role === 'user' ? { observations: [], text: null } : unknownEvent(`message/${asString(role)}`)),
  ],
  ['tool_use', readToolCall],
  ['tool_result', readToolResult],
  ['error', readError],
  ['result', readResult],
])

function readError({ message, severity }: JsonEvent, state: GeminiState): ParsedLine<GeminiState> {
  const sentence = toOneLine(asString(message))
  if (severity === 'warning') return { observations: [], text: formatNote(sentence) }
  return { observations: [], text: formatError(sentence), memory: { ...state, error: sentence } }
}

/**
 * gemini streams answers in pieces of a few words. The transcript shows whole lines at once, and the rest when its line
 * or the answer ends.
 */
function readAnswerPart({ content }: JsonEvent, state: GeminiState): ParsedLine<GeminiState> {
  const answer = `${state.answer}${asString(content)}`.slice(0, MAX_ANSWER)
  const unsaid = `${state.unsaid ?? ''}${asString(content)}`
  const end = unsaid.lastIndexOf('\n') + 1
  return {
    observations: countAnswer(state),
    text: end === 0 ? null : renderTerminalText(unsaid.slice(0, end), { colour: false }),
    memory: { ...state, isAnswering: true, answer, unsaid: unsaid.slice(end) },
  }
}

function readToolCall(
  { tool_name: name, tool_id: id, parameters }: JsonEvent,
  state: GeminiState,
): ParsedLine<GeminiState> {
  const tool = asString(name)
  const path = WRITING_TOOLS.has(tool) ? asString(asObject(parameters)['file_path']) : ''
  const plan = { call: asString(id), todos: asObjects(asObject(parameters)['todos']) }
  const planning = tool === 'write_todos' ? [...state.planning, plan] : state.planning
  const started = toolCallStarted(
    { id: asString(id), tool, summary: summarizeInput(parameters), path },
    { ...state, answer: '', isAnswering: true, planning },
  )
  return { ...started, observations: [...countAnswer(state), ...started.observations] }
}

const WRITING_TOOLS = new Set(['write_file', 'replace'])

function readToolResult(
  { tool_id: id, status, output, error }: JsonEvent,
  state: GeminiState,
): ParsedLine<GeminiState> {
  const plan = state.planning.find(({ call }) => call === id)
  const planning = state.planning.filter(({ call }) => call !== id)
  const detail = asString(output) || asString(asObject(error)['message'])
  const isError = status !== 'success'
  const ended = toolCallEnded(asString(id), { output: detail, isError }, { ...state, isAnswering: false, planning })
  if (plan === undefined || isError) return ended
  return { ...ended, observations: [...ended.observations, plannedTasks(plan.todos, 'description')] }
}

/** Counts the answers of the model, because gemini does not: an answer ends where a tool has returned. */
function countAnswer({ isAnswering }: GeminiState): Observation[] {
  if (isAnswering) return []
  return [{ type: 'spent', scope: 'step', spending: { ...NO_USAGE, turns: 1 } }]
}

/** Reads the last line of a run, which reports its result and its usage. */
function readResult(event: JsonEvent, state: GeminiState): ParsedLine<GeminiState> {
  const word = turnResultFrom(event, state)
  const observations: Observation[] = [...usageUpdate(event['stats']), { type: 'finished', word }]
  const isReported = word.ok || state.error !== null
  return { observations, text: isReported ? null : formatError(word.text) }
}

function turnResultFrom({ status, error, timestamp }: JsonEvent, state: GeminiState): TurnResult {
  const answer = toOneLine(state.answer)
  if (status === 'success' && answer !== '') return { ok: true, text: answer }
  if (status === 'success') return failedTurn(makeFailure('empty', 'the answer is empty'))
  const detail = asString(asObject(error)['message']) || state.error || 'gemini ended its turn with a failure'
  return failedTurn(classifyError(detail, parseTimestamp(timestamp)))
}

function parseTimestamp(timestamp: unknown): Instant | null {
  const at = Date.parse(asString(timestamp))
  return Number.isNaN(at) ? null : at
}

/** gemini counts tokens per process, and knows no prices; the parser has counted the answers one by one. */
function usageUpdate(stats: unknown): Observation[] {
  const { input_tokens: input, output_tokens: output, cached } = asObject(stats)
  if (asNumber(input) + asNumber(output) === 0) return []
  const spending = { input: asNumber(input), cached: asNumber(cached), output: asNumber(output), usd: null, turns: 0 }
  return [{ type: 'spent', scope: 'attempt', spending }]
}
