import type { TurnResult } from '../../../core/session/session.ts'
import { NO_USAGE, type Usage } from '../../../core/session/usage.ts'
import type { Instant } from '../../../lib/time.ts'
import type { ParserState, Observation, ParsedLine } from '../../../ports/agent.ts'
import { asNumber, type JsonObject, asObject, jsonInOutput, asString } from '../shared/json.ts'
import { failedTurn, makeFailure } from '../shared/failed-turn.ts'
import { formatError, formatNote, formatText } from '../shared/transcript-lines.ts'
import { unknownEvent } from '../shared/tool-calls.ts'
import { classifyError } from './failure.ts'
import { readItem } from './items.ts'

/**
 * Parses a line of `codex exec --json`. The state holds the thread, the model's last text since its last tool call, and
 * the last error, because the end of a turn does not repeat them.
 */
export function readLine(line: string, memory: ParserState, now: Instant): ParsedLine {
  const event = jsonInOutput(line)
  if (event === null) return { observations: [], text: formatText(line) }
  const type = asString(event['type'])
  switch (type) {
    case 'thread.started':
      return threadStarted(asString(event['thread_id']), memory)
    case 'turn.started':
      return { observations: [{ type: 'began' }], text: null, memory: { ...memory, ...NEW_TURN_STATE } }
    case 'item.started':
    case 'item.updated':
    case 'item.completed':
      return readItem(type, asObject(event['item']), memory)
    case 'error':
      return readError(asString(event['message']), memory, now)
    case 'turn.completed':
      return turnCompleted(asObject(event['usage']), memory)
    case 'turn.failed':
      return turnFailed(asString(asObject(event['error'])['message']), memory, now)
    default:
      return unknownEvent(type)
  }
}

const NEW_TURN_STATE: ParserState = { said: '', error: '', answering: false, open: [] }

function threadStarted(thread: string, memory: ParserState): ParsedLine {
  if (thread === '') return { observations: [], text: null }
  return { observations: [{ type: 'threaded', thread }], text: null, memory: { ...memory, thread } }
}

/** After an error, codex either retries by itself, or the turn is about to fail. */
function readError(message: string, memory: ParserState, now: Instant): ParsedLine {
  const cause = /^Reconnecting\W{1,20}(?:[\d/]+|waiting for network) \((.*)\)$/s.exec(message)?.[1]
  if (cause === undefined && !message.startsWith('Reconnecting')) {
    return {
      observations: [],
      text: formatError(classifyError(message, now).text),
      memory: { ...memory, error: shortenMessage(message) },
    }
  }
  return {
    observations: [{ type: 'retrying', failure: classifyError(cause ?? message, now) }],
    text: formatNote(message),
  }
}

function turnCompleted(usage: JsonObject, memory: ParserState): ParsedLine {
  const observations: Observation[] = [{ type: 'spent', scope: 'thread', spending: usageFrom(usage) }]
  const words = asString(memory['said'])
  if (words !== '') return { observations: [...observations, turnFinished({ ok: true, text: words })], text: null }
  const sentence = 'the turn ended without a closing word from the model'
  const word = failedTurn(makeFailure('empty', sentence))
  return { observations: [...observations, turnFinished(word)], text: formatError(sentence) }
}

function turnFailed(message: string, memory: ParserState, now: Instant): ParsedLine {
  const failure = classifyError(message, now)
  const isReported = memory['error'] === shortenMessage(message)
  return {
    observations: [turnFinished(failedTurn(failure))],
    text: isReported ? null : formatError(failure.text),
  }
}

/** Servers may answer with whole pages. */
function shortenMessage(message: string): string {
  return message.slice(0, 2000)
}

function turnFinished(word: TurnResult): Observation {
  return { type: 'finished', word }
}

/** codex sums tokens over the whole thread; the parser counts the answers one by one, where they begin. */
function usageFrom(usage: JsonObject): Usage {
  return {
    ...NO_USAGE,
    input: asNumber(usage['input_tokens']),
    cached: asNumber(usage['cached_input_tokens']),
    output: asNumber(usage['output_tokens']),
  }
}
