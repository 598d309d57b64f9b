import type { LastWord } from '../../../core/session.ts'
import { oneLine } from '../../../lib/terminal-text.ts'
import type { Instant } from '../../../lib/time.ts'
import type { Memory, Observation, Reading } from '../../../ports/agent.ts'
import { failed } from '../telling.ts'
import { fieldsOf, type GeminiEvent, numberOf, wordOf } from './events.ts'
import { failureOf } from './failure.ts'

/** The last line of a run, which tells how it went and what it used up. */
export function finished(event: GeminiEvent, memory: Memory): Reading {
  const word = wordIn(event, memory)
  const observations: Observation[] = [...spentIn(event['stats'], memory), { type: 'finished', word }]
  const isTold = word.ok || memory['error'] !== undefined
  return { observations, text: isTold ? null : failed(word.text) }
}

function wordIn({ status, error, timestamp }: GeminiEvent, memory: Memory): LastWord {
  const answer = oneLine(wordOf(memory['answer']))
  if (status === 'success' && answer !== '') return { ok: true, text: answer }
  if (status === 'success') return no({ kind: 'empty', text: 'the answer is empty', resetAt: null, remedy: null })
  const told = wordOf(fieldsOf(error)['message']) || wordOf(memory['error']) || 'gemini ended its turn with a failure'
  return no(failureOf(told, instantOf(timestamp)))
}

function no(failure: Extract<LastWord, { ok: false }>['failure']): LastWord {
  return { ok: false, text: failure.text, failure }
}

function instantOf(timestamp: unknown): Instant | null {
  const at = Date.parse(wordOf(timestamp))
  return Number.isNaN(at) ? null : at
}

/** gemini counts for its process, and knows no prices. */
function spentIn(stats: unknown, memory: Memory): Observation[] {
  const { input_tokens: input, output_tokens: output, cached } = fieldsOf(stats)
  if (numberOf(input) + numberOf(output) === 0) return []
  const turns = Math.max(1, numberOf(memory['turns']))
  const spending = { input: numberOf(input), cached: numberOf(cached), output: numberOf(output), usd: null, turns }
  return [{ type: 'spent', scope: 'attempt', spending }]
}
