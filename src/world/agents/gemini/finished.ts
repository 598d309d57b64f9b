import type { LastWord } from '../../../core/session.ts'
import { oneLine } from '../../../lib/terminal-text.ts'
import type { Instant } from '../../../lib/time.ts'
import type { Memory, Observation, Reading } from '../../../ports/agent.ts'
import { amount, json, type JsonEvent, text } from '../json.ts'
import { failing, failure } from '../last-word.ts'
import { failed } from '../telling.ts'
import { failureOf } from './failure.ts'

/** The last line of a run, which tells how it went and what it used up. */
export function finished(event: JsonEvent, memory: Memory): Reading {
  const word = wordIn(event, memory)
  const observations: Observation[] = [...spentIn(event['stats']), { type: 'finished', word }]
  const isTold = word.ok || memory['error'] !== undefined
  return { observations, text: isTold ? null : failed(word.text) }
}

function wordIn({ status, error, timestamp }: JsonEvent, memory: Memory): LastWord {
  const answer = oneLine(text(memory['answer']))
  if (status === 'success' && answer !== '') return { ok: true, text: answer }
  if (status === 'success') return failing(failure('empty', 'the answer is empty'))
  const told = text(json(error)['message']) || text(memory['error']) || 'gemini ended its turn with a failure'
  return failing(failureOf(told, instantOf(timestamp)))
}

function instantOf(timestamp: unknown): Instant | null {
  const at = Date.parse(text(timestamp))
  return Number.isNaN(at) ? null : at
}

/** gemini counts tokens for its process, and knows no prices; its answers were counted one by one. */
function spentIn(stats: unknown): Observation[] {
  const { input_tokens: input, output_tokens: output, cached } = json(stats)
  if (amount(input) + amount(output) === 0) return []
  const spending = { input: amount(input), cached: amount(cached), output: amount(output), usd: null, turns: 0 }
  return [{ type: 'spent', scope: 'attempt', spending }]
}
