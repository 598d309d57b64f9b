import { NO_USAGE } from '../../../core/session/usage.ts'
import { renderTerminalText, toOneLine } from '../../../lib/text/terminal-text.ts'
import type { Observation, ParsedLine, ParserState } from '../../../ports/agent.ts'
import { toolCallEnded, toolCallStarted, unknownEvent } from '../shared/tool-calls.ts'
import { type JsonEvent, asNumber, asObject, asObjects, asString, eventInOutput } from '../shared/json.ts'
import { plannedTasks } from '../shared/todo-list.ts'
import { formatError, formatNote, formatText, summarizeInput } from '../shared/transcript-lines.ts'
import type { TurnResult } from '../../../core/session/session.ts'
import type { Instant } from '../../../lib/time.ts'
import { failedTurn, makeFailure } from '../shared/failed-turn.ts'
import { classifyError } from './failure.ts'

/** In characters. The turn result needs no more of an answer. */
const MAX_ANSWER = 2000

/** Parses a line of `gemini --output-format stream-json`. */
export function readLine(line: string, memory: ParserState): ParsedLine {
  const event = eventInOutput(line)
  if (event === null) return { observations: [], text: formatText(line) }
  if (event.type === 'message' && event['role'] === 'assistant') return readAnswerPart(event, memory)
  const { unsaid, ...others } = memory
  const reading = EVENT_READERS.get(event.type)?.(event, others) ?? unknownEvent(event.type)
  if (typeof unsaid !== 'string') return reading
  const before = formatText(unsaid) ?? ''
  return { ...reading, text: `${before}${reading.text ?? ''}` || null, memory: reading.memory ?? others }
}

const EVENT_READERS = new Map<string, (event: JsonEvent, memory: ParserState) => ParsedLine>([
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

function readError({ message, severity }: JsonEvent, memory: ParserState): ParsedLine {
  const sentence = toOneLine(asString(message))
  if (severity === 'warning') return { observations: [], text: formatNote(sentence) }
  return { observations: [], text: formatError(sentence), memory: { ...memory, error: sentence } }
}

/**
 * gemini streams answers in pieces of a few words. The transcript shows whole lines at once, and the rest when its line
 * or the answer ends.
 */
function readAnswerPart({ content }: JsonEvent, memory: ParserState): ParsedLine {
  const answer = `${asString(memory['answer'])}${asString(content)}`.slice(0, MAX_ANSWER)
  const unsaid = `${asString(memory['unsaid'])}${asString(content)}`
  const end = unsaid.lastIndexOf('\n') + 1
  return {
    observations: countAnswer(memory),
    text: end === 0 ? null : renderTerminalText(unsaid.slice(0, end), { colour: false }),
    memory: { ...memory, isAnswering: true, answer, unsaid: unsaid.slice(end) },
  }
}

function readToolCall({ tool_name: name, tool_id: id, parameters }: JsonEvent, memory: ParserState): ParsedLine {
  const tool = asString(name)
  const path = WRITING_TOOLS.has(tool) ? asString(asObject(parameters)['file_path']) : ''
  const { answer: _before, ...others } = memory
  const started = toolCallStarted(
    { id: asString(id), tool, gist: summarizeInput(parameters), path },
    { ...others, isAnswering: true },
  )
  const observations = [...countAnswer(memory), ...started.observations]
  if (tool !== 'write_todos') return { ...started, observations }
  const plan = JSON.stringify(asObject(parameters)['todos'] ?? [])
  return { ...started, observations, memory: { ...started.memory, [planningKey(asString(id))]: plan } }
}

function planningKey(id: string): string {
  return `planning ${id}`
}

const WRITING_TOOLS = new Set(['write_file', 'replace'])

function readToolResult({ tool_id: id, status, output, error }: JsonEvent, memory: ParserState): ParsedLine {
  const { isAnswering: _before, [planningKey(asString(id))]: plan, ...others } = memory
  const detail = asString(output) || asString(asObject(error)['message'])
  const isError = status !== 'success'
  const ended = toolCallEnded(asString(id), { output: detail, isError }, others)
  if (typeof plan !== 'string' || isError) return ended
  return { ...ended, observations: [...ended.observations, plannedTasks(asObjects(JSON.parse(plan)), 'description')] }
}

/** Counts the answers of the model, because gemini does not: an answer ends where a tool has returned. */
function countAnswer(memory: ParserState): Observation[] {
  if (memory['isAnswering'] === true) return []
  return [{ type: 'spent', scope: 'step', spending: { ...NO_USAGE, turns: 1 } }]
}

/** Reads the last line of a run, which reports its result and its usage. */
function readResult(event: JsonEvent, memory: ParserState): ParsedLine {
  const word = turnResultFrom(event, memory)
  const observations: Observation[] = [...usageUpdate(event['stats']), { type: 'finished', word }]
  const isReported = word.ok || memory['error'] !== undefined
  return { observations, text: isReported ? null : formatError(word.text) }
}

function turnResultFrom({ status, error, timestamp }: JsonEvent, memory: ParserState): TurnResult {
  const answer = toOneLine(asString(memory['answer']))
  if (status === 'success' && answer !== '') return { ok: true, text: answer }
  if (status === 'success') return failedTurn(makeFailure('empty', 'the answer is empty'))
  const detail =
    asString(asObject(error)['message']) || asString(memory['error']) || 'gemini ended its turn with a failure'
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
