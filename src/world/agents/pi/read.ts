import { formatDuration } from '../../../lib/time.ts'
import type { ParsedLine, ParserState } from '../../../ports/agent.ts'
import { type JsonEvent, asNumber, asObject, asString, eventInOutput, joinTextBlocks } from '../shared/json.ts'
import { formatError, formatNote, formatText, summarizeInput } from '../shared/transcript-lines.ts'
import { toolCallEnded, toolCallStarted, unknownEvent } from '../shared/tool-calls.ts'
import { classifyError } from './failure.ts'
import { parseMessage, turnResultFrom, usageUpdate } from './messages.ts'

/** Parses a line of `pi --mode json`. */
export function readLine(line: string, memory: ParserState): ParsedLine {
  const event = eventInOutput(line)
  if (event === null) return { observations: [], text: formatText(line) }
  if (IGNORED_TYPES.has(event.type)) return { observations: [], text: null }
  const reader = EVENT_READERS.get(event.type)
  return reader === undefined ? unknownEvent(event.type) : reader(event, memory)
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

const EVENT_READERS = new Map<string, (event: JsonEvent, memory: ParserState) => ParsedLine>([
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
function runStarted(_event: JsonEvent, { hasEnded, ...memory }: ParserState): ParsedLine {
  return { observations: hasEnded === true ? [{ type: 'began' }] : [], text: null, memory }
}

function runEnded({ messages }: JsonEvent, memory: ParserState): ParsedLine {
  const word = turnResultFrom(messages)
  return {
    observations: [{ type: 'finished', word }],
    text: word.ok ? null : formatError(word.text),
    memory: { ...memory, hasEnded: true },
  }
}

function messageEnded({ message: value }: JsonEvent): ParsedLine {
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

function retryScheduled(event: JsonEvent): ParsedLine {
  const failure = classifyError(asString(event['errorMessage']), null)
  return { observations: [{ type: 'retrying', failure }], text: formatNote(`pi tries again ${describeRetry(event)}`) }
}

/** A failed compaction has no run of its own that would report the reason. */
function compactionRetryScheduled(event: JsonEvent): ParsedLine {
  const failure = classifyError(asString(event['errorMessage']), null)
  const text =
    formatError(`summarising the conversation failed: ${failure.text}`) +
    formatNote(`pi tries again ${describeRetry(event)}`)
  return { observations: [{ type: 'retrying', failure }], text }
}

function describeRetry({ attempt, maxAttempts, delayMs }: JsonEvent): string {
  return `in ${formatDuration(asNumber(delayMs))} (${asNumber(attempt)} of ${asNumber(maxAttempts)})`
}

function compactionStarted({ reason }: JsonEvent): ParsedLine {
  return { observations: [], text: formatNote(`the agent summarises the conversation (${asString(reason)})`) }
}

function compactionEnded({ errorMessage, result, aborted }: JsonEvent): ParsedLine {
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

function readToolStart({ toolCallId: id, toolName, args }: JsonEvent, memory: ParserState): ParsedLine {
  const tool = asString(toolName)
  const path = WRITING_TOOLS.has(tool) ? asString(asObject(args)['path']) : ''
  return toolCallStarted({ id: asString(id), tool, gist: summarizeInput(args), path }, memory)
}

function readToolEnd({ toolCallId: id, result, isError }: JsonEvent, memory: ParserState): ParsedLine {
  const output = joinTextBlocks(asObject(result)['content'])
  return toolCallEnded(asString(id), { output, isError: isError === true }, memory)
}
