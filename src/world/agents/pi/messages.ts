import { asArray, asNumber, asObject, asString, joinTextBlocks } from '../shared/json.ts'
import type { TurnResult } from '../../../core/session/session.ts'
import { toOneLine } from '../../../lib/text/terminal-text.ts'
import { failedTurn, makeFailure } from '../shared/turn-result.ts'
import { classifyError } from './failure.ts'
import type { Observation } from '../../../ports/agent.ts'

/** A message of pi's, as far as it was looked at. */
export interface PiMessage {
  readonly role: string
  readonly content: unknown
  readonly stopReason: string
  readonly errorMessage: string
  /** When it began, in milliseconds since 1970; null in what is not dated. */
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

/** How a run of pi ended, by its last answer. pi exits 0 whatever happened, so that only this tells. */
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

/** What an answer of the model used up; nothing when there was none. */
export function usageUpdate(usage: unknown): Observation[] {
  const { input, output, cacheRead, cacheWrite, cost } = asObject(usage)
  const read = asNumber(input) + asNumber(cacheRead) + asNumber(cacheWrite)
  if (read + asNumber(output) === 0) return []
  // A model whose price pi does not know costs it 0.
  const usd = asNumber(asObject(cost)['total']) || null
  const spending = { input: read, cached: asNumber(cacheRead), output: asNumber(output), usd, turns: 1 }
  return [{ type: 'spent', scope: 'step', spending }]
}
