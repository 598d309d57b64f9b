import type { Observation } from '../../../ports/agent.ts'
import { fieldsOf, numberOf } from './events.ts'

/** What an answer of the model used up; nothing when there was none. */
export function spentIn(usage: unknown): Observation[] {
  const { input, output, cacheRead, cacheWrite, cost } = fieldsOf(usage)
  const read = numberOf(input) + numberOf(cacheRead) + numberOf(cacheWrite)
  if (read + numberOf(output) === 0) return []
  // A model whose price pi does not know costs it 0.
  const usd = numberOf(fieldsOf(cost)['total']) || null
  const spending = { input: read, cached: numberOf(cacheRead), output: numberOf(output), usd, turns: 1 }
  return [{ type: 'spent', scope: 'step', spending }]
}
