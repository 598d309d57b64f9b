import type { TurnResult } from '../../../core/session/attempt.ts'
import { toOneLine } from '../../../lib/text/strip-terminal-controls.ts'
import type { Observation, ParsedLine } from '../../../ports/agent.ts'
import { withState } from '../shared/restore-parser-state.ts'
import { asNumber, type JsonObject, asObject, jsonInOutput, asString } from '../shared/tolerant-json.ts'
import { truncateResult, failedTurn, makeFailure } from '../shared/turn-result.ts'
import { formatError, formatNote, formatText } from '../shared/transcript-lines.ts'
import { unknownEvent } from '../shared/tool-calls.ts'
import { classifyError } from './failure.ts'
import { type OpencodeState, restoreState } from './parser-state.ts'
import { readTool } from './tools.ts'

/**
 * Parses a line of `opencode run --format json`. opencode sends no end event: the turn ends when the process exits, and
 * the last step gives its result.
 */
export const readLine = withState(restoreState, (line, state: OpencodeState): ParsedLine<OpencodeState> => {
  const event = jsonInOutput(line)
  if (event === null) return { observations: [], text: formatText(line) }
  const thread = asString(event['sessionID'])
  if (thread === '' || thread === state.thread) return readEvent(event, state)
  const known = { ...state, thread }
  const reading = readEvent(event, known)
  const observations: Observation[] = [{ type: 'threaded', thread }, ...reading.observations]
  return { observations, text: reading.text, memory: reading.memory ?? known }
})

function readEvent(event: JsonObject, state: OpencodeState): ParsedLine<OpencodeState> {
  const part = asObject(event['part'])
  const type = asString(event['type'])
  switch (type) {
    case 'step_start':
      return stepStarted(asString(part['messageID']), state)
    case 'text':
      return readText(part, state)
    case 'reasoning':
      return { observations: [], text: null }
    case 'tool_use':
      return readTool(part, state)
    case 'step_finish':
      return stepFinished(part, state)
    case 'error':
      return readError(asObject(event['error']), asNumber(event['timestamp']), state)
    default:
      return unknownEvent(type)
  }
}

/** opencode 1.18.33: a step that begins again without an end is the only trace of an interrupted answer. */
function stepStarted(message: string, state: OpencodeState): ParsedLine<OpencodeState> {
  const { observations, memory: next } = continueTurn(state)
  const isAgain = message !== '' && state.step === message
  const retrying: Observation = { type: 'retrying', failure: makeFailure('network', ANSWER_CUT_OFF) }
  return {
    observations: isAgain ? [...observations, retrying] : observations,
    text: isAgain ? formatNote(ANSWER_CUT_OFF) : null,
    memory: { ...next, step: message },
  }
}

const ANSWER_CUT_OFF = 'the answer of the model was cut off; opencode asks again'

/** Withdraws a turn result that was not the last one. */
function continueTurn(state: OpencodeState): Pick<ParsedLine, 'observations'> & { memory: OpencodeState } {
  const observations: Observation[] = state.hasWord ? [{ type: 'began' }] : []
  return { observations, memory: { ...state, said: '', refused: '', hasWord: false } }
}

/**
 * opencode 1.18.33: compaction ends with a step that looks like an answer, then opencode itself asks the model to
 * continue.
 */
function readText(part: JsonObject, state: OpencodeState): ParsedLine<OpencodeState> {
  if (part['synthetic'] === true) return { ...continueTurn(state), text: formatNote('the conversation was shortened') }
  const words = asString(part['text'])
  const line = toOneLine(words)
  return {
    observations: [],
    text: formatText(words),
    memory: line === '' ? state : { ...state, said: truncateResult(line) },
  }
}

function stepFinished(part: JsonObject, state: OpencodeState): ParsedLine<OpencodeState> {
  const spent: Observation = { type: 'spent', scope: 'step', spending: usageFrom(part) }
  const turnResult = turnResultFrom(asString(part['reason']), state)
  if (turnResult === null) return { observations: [spent], text: null, memory: { ...state, step: '' } }
  return {
    observations: [spent, { type: 'finished', word: turnResult }],
    text: turnResult.ok ? null : formatError(turnResult.text),
    memory: { ...state, step: '', hasWord: true },
  }
}

/**
 * After tool calls another step follows, so there is no result yet. After a refusal none follows: opencode 1.18.33 then
 * exits with status 0.
 */
function turnResultFrom(reason: string, state: OpencodeState): TurnResult | null {
  const refused = state.refused
  const words = state.said
  if (refused !== '')
    return failedTurn(makeFailure('denied', `opencode was refused ${refused}`, 'give the session more autonomy'))
  if (reason === 'tool-calls') return null
  if (reason !== 'stop')
    return failedTurn(
      makeFailure('other', `the model broke off its answer: ${reason === '' ? 'no reason given' : reason}`),
    )
  return words === ''
    ? failedTurn(makeFailure('empty', 'the turn ended without a final message from the model'))
    : { ok: true, text: words }
}

function readError(error: JsonObject, at: number, state: OpencodeState): ParsedLine<OpencodeState> {
  const failure = classifyError(error, at)
  const isReported = state.error === truncateResult(failure.text)
  return {
    observations: [{ type: 'finished', word: failedTurn(failure) }],
    text: isReported ? null : formatError(failure.text),
    memory: { ...state, error: truncateResult(failure.text), hasWord: true },
  }
}

/** opencode does not report the steps of subagents, so the parser does not count them. */
function usageFrom(part: JsonObject): Extract<Observation, { type: 'spent' }>['spending'] {
  const tokens = asObject(part['tokens'])
  const cache = asObject(tokens['cache'])
  const cached = asNumber(cache['read'])
  return {
    input: asNumber(tokens['input']) + cached + asNumber(cache['write']),
    cached,
    output: asNumber(tokens['output']) + asNumber(tokens['reasoning']),
    usd: typeof part['cost'] === 'number' ? part['cost'] : null,
    turns: 1,
  }
}
