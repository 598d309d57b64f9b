import type { TurnResult } from '../../../core/session/session.ts'
import type { ParserState, Observation } from '../../../ports/agent.ts'

/** What is kept of an attempt's output from one line to the next. */
export type ClaudeState = {
  readonly cwd: string
  /** The answers counted last: every block of an answer comes with its id and what was used up for it. */
  readonly counted: readonly string[]
  /** Used up by this process so far, as counted by us or told by results, whichever is more. */
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly turns: number
  /** The part of it that results have told. */
  readonly toldInput: number
  readonly toldCached: number
  readonly toldOutput: number
  readonly usd: number | null
  /** Files that open calls are about to write, as `<call> <path>`. */
  readonly writing: readonly string[]
  /** Open calls that have to do with its plan. */
  readonly planning: readonly string[]
  /** The background tasks that run, by id. */
  readonly tasks: readonly string[]
  /** How the last turn ended, as JSON. */
  readonly word: string | null
  /** It ended while tasks ran: it counts once they are over, unless another turn follows. */
  readonly isHeld: boolean
  /** A turn has ended, and none has begun since. */
  readonly hasEnded: boolean
  /** Something was said for people to read in this turn. */
  readonly hasSpoken: boolean
  /** What the program calls the trouble that it told of in place of an answer. */
  readonly trouble: string
  /** When the usage limit that was hit ends. */
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

export function restoreState(memory: ParserState): ClaudeState {
  return { ...INITIAL_STATE, ...(memory as Partial<ClaudeState>) }
}

/** What an event means, how it reads, and what is to be kept of it. */
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

/** One after the other, each with what the one before it kept. */
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

/** A new turn in the same process: what was said about the end of the one before counts no more. */
export function beginTurn(state: ClaudeState): EventResult {
  if (!state.hasEnded) return noResult(state)
  const fresh = { ...state, hasEnded: false, hasSpoken: false, isHeld: false, trouble: '' }
  return { observations: [{ type: 'began' }], text: null, state: fresh }
}

export function storedTurnResult({ word }: ClaudeState): TurnResult | null {
  return word === null ? null : (JSON.parse(word) as TurnResult)
}
