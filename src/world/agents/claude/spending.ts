import type { Observation } from '../../../ports/agent.ts'
import { amount, type Json, json, jsons, text } from '../json.ts'
import type { Mind } from './mind.ts'

/** Subagents answer side by side; no more of them than this are ever under way. */
const REMEMBERED = 32

/**
 * Counts what an answer of the model used up, once. Its output is known only when the turn ends: 2.1.x streams answers block
 * by block, each with what was used up when the answer began.
 */
export function countAnswer(message: Json, isMain: boolean, mind: Mind): Mind {
  const id = text(message['id'])
  if (id === '' || mind.counted.includes(id)) return mind
  const usage = json(message['usage'])
  const cached = amount(usage['cache_read_input_tokens'])
  return {
    ...mind,
    counted: [...mind.counted, id].slice(-REMEMBERED),
    input: mind.input + amount(usage['input_tokens']) + amount(usage['cache_creation_input_tokens']) + cached,
    cached: mind.cached + cached,
    output: mind.output + amount(usage['output_tokens']),
    turns: mind.turns + (isMain ? 1 : 0),
  }
}

/**
 * Takes over what a result tells. 2.1.325 counts `modelUsage` and `total_cost_usd` over the whole thread, whatever was lost
 * by a kill, and says beside it what was new since its last result; 2.1.197 counts this process alone. `usage` is no
 * help: it leaves out subagents, and the last answer before a budget was reached.
 */
export function settle(result: Json, mind: Mind): Mind {
  const news = result['model_usage_since_last_result']
  const told = news === undefined ? totalOf(result['modelUsage']) : plus(toldBefore(mind), totalOf(news))
  const toldInput = Math.max(mind.toldInput, told.input)
  const toldCached = Math.max(mind.toldCached, told.cached)
  const toldOutput = Math.max(mind.toldOutput, told.output)
  return {
    ...mind,
    toldInput,
    toldCached,
    toldOutput,
    usd: Math.max(mind.usd ?? 0, told.usd),
    input: Math.max(mind.input, toldInput),
    cached: Math.max(mind.cached, toldCached),
    output: Math.max(mind.output, toldOutput),
  }
}

export function spent({ input, cached, output, usd, turns }: Mind): Observation {
  return { type: 'spent', scope: 'attempt', spending: { input, cached, output, usd, turns } }
}

interface Total {
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly usd: number
}

function toldBefore({ toldInput, toldCached, toldOutput, usd }: Mind): Total {
  return { input: toldInput, cached: toldCached, output: toldOutput, usd: usd ?? 0 }
}

/** Over all models: a subagent's may be another, and so may the one that sums up. */
function totalOf(usageByModel: unknown): Total {
  const none: Total = { input: 0, cached: 0, output: 0, usd: 0 }
  return jsons(Object.values(json(usageByModel))).reduce<Total>((total, usage) => plus(total, costOf(usage)), none)
}

function costOf(usage: Json): Total {
  const cached = amount(usage['cacheReadInputTokens'])
  return {
    input: amount(usage['inputTokens']) + amount(usage['cacheCreationInputTokens']) + cached,
    cached,
    output: amount(usage['outputTokens']),
    usd: amount(usage['costUSD']),
  }
}

function plus(a: Total, b: Total): Total {
  return { input: a.input + b.input, cached: a.cached + b.cached, output: a.output + b.output, usd: a.usd + b.usd }
}
