import type { Observation } from '../../../ports/agent.ts'
import { asNumber, type JsonObject, asObject, asObjects, asString } from '../shared/tolerant-json.ts'
import type { ClaudeState } from './parser-state.ts'

/** Subagents answer in parallel; never more than this number of answers are in progress. */
const REMEMBERED_MESSAGES = 32

/**
 * Adds the usage of a model's answer, once. Its output is known only when the turn ends: Claude Code 2.1.x streams
 * answers block by block, each with the usage at the beginning of the answer.
 */
export function addMessageUsage(message: JsonObject, isMain: boolean, state: ClaudeState): ClaudeState {
  const id = asString(message['id'])
  if (id === '' || state.counted.includes(id)) return state
  const usage = asObject(message['usage'])
  const cached = asNumber(usage['cache_read_input_tokens'])
  return {
    ...state,
    counted: [...state.counted, id].slice(-REMEMBERED_MESSAGES),
    input: state.input + asNumber(usage['input_tokens']) + asNumber(usage['cache_creation_input_tokens']) + cached,
    cached: state.cached + cached,
    output: state.output + asNumber(usage['output_tokens']),
    turns: state.turns + (isMain ? 1 : 0),
  }
}

/**
 * Merges the usage that a result reports. Claude Code 2.1.325 counts `modelUsage` and `total_cost_usd` over the whole
 * thread, regardless of losses by a kill, and reports the increase since its last result beside them; 2.1.197 counts
 * only this process. `usage` does not help: it leaves out subagents, and the last answer before the budget was reached.
 */
export function mergeResultUsage(result: JsonObject, state: ClaudeState): ClaudeState {
  const sinceLast = result['model_usage_since_last_result']
  const reported =
    sinceLast === undefined ? sumByModel(result['modelUsage']) : addTotals(reportedTotal(state), sumByModel(sinceLast))
  const toldInput = Math.max(state.toldInput, reported.input)
  const toldCached = Math.max(state.toldCached, reported.cached)
  const toldOutput = Math.max(state.toldOutput, reported.output)
  return {
    ...state,
    toldInput,
    toldCached,
    toldOutput,
    usd: Math.max(state.usd ?? 0, reported.usd),
    input: Math.max(state.input, toldInput),
    cached: Math.max(state.cached, toldCached),
    output: Math.max(state.output, toldOutput),
  }
}

export function usageUpdate({ input, cached, output, usd, turns }: ClaudeState): Observation {
  return { type: 'spent', scope: 'attempt', spending: { input, cached, output, usd, turns } }
}

interface UsageTotal {
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly usd: number
}

function reportedTotal({ toldInput, toldCached, toldOutput, usd }: ClaudeState): UsageTotal {
  return { input: toldInput, cached: toldCached, output: toldOutput, usd: usd ?? 0 }
}

/** Sums over all models: a subagent or the compaction may use another one. */
function sumByModel(usageByModel: unknown): UsageTotal {
  const none: UsageTotal = { input: 0, cached: 0, output: 0, usd: 0 }
  return asObjects(Object.values(asObject(usageByModel))).reduce<UsageTotal>(
    (total, usage) => addTotals(total, modelUsage(usage)),
    none,
  )
}

function modelUsage(usage: JsonObject): UsageTotal {
  const cached = asNumber(usage['cacheReadInputTokens'])
  return {
    input: asNumber(usage['inputTokens']) + asNumber(usage['cacheCreationInputTokens']) + cached,
    cached,
    output: asNumber(usage['outputTokens']),
    usd: asNumber(usage['costUSD']),
  }
}

function addTotals(a: UsageTotal, b: UsageTotal): UsageTotal {
  return { input: a.input + b.input, cached: a.cached + b.cached, output: a.output + b.output, usd: a.usd + b.usd }
}
