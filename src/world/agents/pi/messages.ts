import { asArray, asNumber, asObject, asString, joinTextBlocks } from '../shared/json.ts'
import type { TurnResult } from '../../../core/session/session.ts'
import { toOneLine } from '../../../lib/text/terminal-text.ts'
import { failedTurn, makeFailure } from '../shared/failed-turn.ts'
import { classifyError } from './failure.ts'
import type { Observation } from '../../../ports/agent.ts'

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
export function turnResultFrom(messages: unknown): TurnResult {
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
export function usageUpdate(usage: unknown): Observation[] {
  const { input, output, cacheRead, cacheWrite, cost } = asObject(usage)
  const read = asNumber(input) + asNumber(cacheRead) + asNumber(cacheWrite)
  if (read + asNumber(output) === 0) return []
  // pi reports a cost of 0 for a model with an unknown price.
  const usd = asNumber(asObject(cost)['total']) || null
  const spending = { input: read, cached: asNumber(cacheRead), output: asNumber(output), usd, turns: 1 }
  return [{ type: 'spent', scope: 'step', spending }]
}
