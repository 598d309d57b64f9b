import type { Observation } from '../../../ports/agent.ts'
import { amount, json } from '../json.ts'

/** What an answer of the model used up; nothing when there was none. */
export function spentIn(usage: unknown): Observation[] {
  const { input, output, cacheRead, cacheWrite, cost } = json(usage)
  const read = amount(input) + amount(cacheRead) + amount(cacheWrite)
  if (read + amount(output) === 0) return []
  // A model whose price pi does not know costs it 0.
  const usd = amount(json(cost)['total']) || null
  const spending = { input: read, cached: amount(cacheRead), output: amount(output), usd, turns: 1 }
  return [{ type: 'spent', scope: 'step', spending }]
}
