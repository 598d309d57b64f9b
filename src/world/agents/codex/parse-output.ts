import type { TurnResult } from '../../../core/session/attempt.ts'
import { NO_USAGE, type Usage } from '../../../core/session/usage.ts'
import type { Instant } from '../../../lib/time.ts'
import type { Observation, ParsedLine } from '../../../ports/agent.ts'
import { withState } from '../shared/restore-parser-state.ts'
import { asNumber, type JsonObject, asObject, jsonInOutput, asString } from '../shared/tolerant-json.ts'
import { failedTurn, makeFailure } from '../shared/turn-result.ts'
import { formatError, formatNote, formatText } from '../shared/transcript-lines.ts'
import { unknownEvent } from '../shared/tool-calls.ts'
import { classifyError } from './failure.ts'
import { readItem } from './items.ts'
import { type CodexState, NEW_TURN, restoreState } from './parser-state.ts'

/** Parses a line of `codex exec --json`. */
export const readLine = withState(restoreState, (line, state: CodexState, now: Instant): ParsedLine<CodexState> => {
  const event = jsonInOutput(line)
  return event === null ? { observations: [], text: formatText(line) } : readEvent(event, state, now)
})

function readEvent(event: JsonObject, state: CodexState, now: Instant): ParsedLine<CodexState> {
  const type = asString(event['type'])
  switch (type) {
    case 'thread.started':
      return threadStarted(asString(event['thread_id']), state)
    case 'turn.started':
      return { observations: [{ type: 'began' }], text: null, memory: { ...state, ...NEW_TURN } }
    case 'item.started':
    case 'item.updated':
    case 'item.completed':
      return readItem(type, asObject(event['item']), state)
    case 'error':
      return readError(asString(event['message']), state, now)
    case 'turn.completed':
      return turnCompleted(asObject(event['usage']), state)
    case 'turn.failed':
      return turnFailed(asString(asObject(event['error'])['message']), state, now)
    default:
      return unknownEvent(type)
  }
}

function threadStarted(thread: string, state: CodexState): ParsedLine<CodexState> {
  if (thread === '') return { observations: [], text: null }
  return { observations: [{ type: 'threaded', thread }], text: null, memory: { ...state, thread } }
}

/** After an error, codex either retries by itself, or the turn is about to fail. */
function readError(message: string, state: CodexState, now: Instant): ParsedLine<CodexState> {
  const cause = /^Reconnecting\W{1,20}(?:[\d/]+|waiting for network) \((.*)\)$/s.exec(message)?.[1]
  if (cause === undefined && !message.startsWith('Reconnecting')) {
    return {
      observations: [],
      text: formatError(classifyError(message, now).text),
      memory: { ...state, error: shortenMessage(message) },
    }
  }
  return {
    observations: [{ type: 'retrying', failure: classifyError(cause ?? message, now) }],
    text: formatNote(message),
  }
}

function turnCompleted(usage: JsonObject, { said: words }: CodexState): ParsedLine<never> {
  const observations: Observation[] = [{ type: 'spent', scope: 'thread', spending: usageFrom(usage) }]
  if (words !== '') return { observations: [...observations, turnFinished({ ok: true, text: words })], text: null }
  const sentence = 'the turn ended without a final message from the model'
  const word = failedTurn(makeFailure('empty', sentence))
  return { observations: [...observations, turnFinished(word)], text: formatError(sentence) }
}

function turnFailed(message: string, { error }: CodexState, now: Instant): ParsedLine<never> {
  const failure = classifyError(message, now)
  const isReported = error === shortenMessage(message)
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
