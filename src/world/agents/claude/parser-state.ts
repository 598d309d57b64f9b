import type { TurnResult } from '../../../core/session/attempt.ts'
import { amount, boolean, instant, listOf, nullable, object, parseJson, string } from '../../../lib/codec.ts'
import type { Observation } from '../../../ports/agent.ts'
import { parseTurnResult } from '../shared/turn-result.ts'
import { stateReader } from '../shared/restore-parser-state.ts'
import { parsePendingWrites, type PendingWrite } from '../shared/tool-calls.ts'

/** An open call that concerns the agent's plan, and the subject of the task that it names; empty without one. */
export type PlanningCall = { readonly call: string; readonly subject: string }

/** The parser's state, which it keeps from one line of an attempt's output to the next. */
export type ClaudeState = {
  readonly cwd: string
  /** The ids of the answers that were counted last: every block of an answer repeats its id and its usage. */
  readonly counted: readonly string[]
  /** The usage of this process so far: the larger of our own count and the reported results. */
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly turns: number
  /** The part of the usage that results reported. */
  readonly toldInput: number
  readonly toldCached: number
  readonly toldOutput: number
  readonly usd: number | null
  readonly writing: readonly PendingWrite[]
  /** Open calls that concern the agent's plan. */
  readonly planning: readonly PlanningCall[]
  /** The ids of the running background tasks. */
  readonly tasks: readonly string[]
  /** The result of the last turn. */
  readonly word: TurnResult | null
  /** The turn ended while tasks ran: its result counts once they end, unless another turn follows. */
  readonly isHeld: boolean
  /** A turn has ended, and none has begun since. */
  readonly hasEnded: boolean
  /** The agent wrote text for people in this turn. */
  readonly hasSpoken: boolean
  /** The program's name for the error that it reported in place of an answer. */
  readonly trouble: string
  /** The time at which the reached usage limit ends. */
  readonly resetAt: number | null
  /** Calls that a hook of the user's own refused. */
  readonly hooked: readonly string[]
}

const INITIAL_STATE: ClaudeState = {
  cwd: '',
  counted: [],
  input: 0,
  cached: 0,
  output: 0,
  turns: 0,
  toldInput: 0,
  toldCached: 0,
  toldOutput: 0,
  usd: null,
  writing: [],
  planning: [],
  tasks: [],
  word: null,
  isHeld: false,
  hasEnded: false,
  hasSpoken: false,
  trouble: '',
  resetAt: null,
  hooked: [],
}

export const restoreState = stateReader<ClaudeState>(INITIAL_STATE, {
  cwd: string,
  counted: listOf(string),
  input: amount,
  cached: amount,
  output: amount,
  turns: amount,
  toldInput: amount,
  toldCached: amount,
  toldOutput: amount,
  usd: nullable(amount),
  writing: parsePendingWrites,
  planning: listOf(parsePlanningCall),
  tasks: listOf(string),
  word: nullable(parseWord),
  isHeld: boolean,
  hasEnded: boolean,
  hasSpoken: boolean,
  trouble: string,
  resetAt: nullable(instant),
  hooked: listOf(string),
})

/** Older versions wrote the call and the subject as a list, in JSON. */
function parsePlanningCall(value: unknown): PlanningCall {
  if (typeof value !== 'string') return planningCall(value)
  const [call = '', subject = ''] = parseJson(value, listOf(string))
  return { call, subject }
}

const planningCall = object({ call: string, subject: string })

/** Older versions wrote the turn result in JSON. */
function parseWord(value: unknown): TurnResult {
  return typeof value === 'string' ? parseJson(value, parseTurnResult) : parseTurnResult(value)
}

/** An event's observations, its line in the transcript, and the state after it. */
export interface EventResult {
  readonly observations: readonly Observation[]
  readonly text: string | null
  readonly state: ClaudeState
}

export function noResult(state: ClaudeState): EventResult {
  return { observations: [], text: null, state }
}

export function textResult(text: string | null, state: ClaudeState): EventResult {
  return { observations: [], text, state }
}

export function unknownEvent(what: string, state: ClaudeState): EventResult {
  return { observations: [{ type: 'unknown', what: what.replace(/[^\w/.-]/g, '').slice(0, 80) }], text: null, state }
}

/** Reads the items one after the other and hands the state of each on to the next. */
export function readEach<T>(
  items: readonly T[],
  readItem: (item: T, state: ClaudeState) => EventResult,
  state: ClaudeState,
): EventResult {
  let result: EventResult = noResult(state)
  for (const item of items) {
    const next = readItem(item, result.state)
    const text = result.text === null ? next.text : result.text + (next.text ?? '')
    result = { observations: [...result.observations, ...next.observations], text, state: next.state }
  }
  return result
}

/** Begins a new turn in the same process and drops the result of the turn before. */
export function beginTurn(state: ClaudeState): EventResult {
  if (!state.hasEnded) return noResult(state)
  const fresh = { ...state, hasEnded: false, hasSpoken: false, isHeld: false, trouble: '' }
  return { observations: [{ type: 'began' }], text: null, state: fresh }
}
