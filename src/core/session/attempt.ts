import type { Instant } from '../../lib/time.ts'
import type { TurnInput } from './conversation.ts'
import type { Failure } from './failure.ts'

/** Identifies the process of an attempt, even if another process gets the same pid later. */
export interface ProcessIdentity {
  readonly pid: number
  /** The kernel's start time of that pid, opaque: an equal value means the same process. */
  readonly birth: string
  readonly boot: string
  readonly startedAt: Instant
}

export type Exit =
  | { readonly kind: 'code'; readonly code: number }
  | { readonly kind: 'signal'; readonly signal: string }
  /** The process left no exit record: somebody killed the process, or the machine went down. */
  | { readonly kind: 'vanished'; readonly evidence: string; readonly isReboot?: boolean }

/** The agent's own report on how its turn ended. */
export type TurnResult =
  /** `isVerdict`: the text itself is the sentence that says how the work ended, with the evidence. */
  | { readonly ok: true; readonly text: string; readonly isVerdict?: true }
  | { readonly ok: false; readonly text: string; readonly failure: Failure }

/** The present activity of an attempt. */
export interface Activity {
  readonly tools: readonly {
    readonly id: string
    readonly tool: string
    readonly summary: string
    readonly since: Instant
  }[]
  readonly editedAt: Instant | null
  /** The failure after which the agent's program itself tries again. */
  readonly retrying: Failure | null
}

/** The state that a parser carries from one line to the next: plain JSON, whose fields only the agent's adapter knows. */
export type ParserState = Readonly<Record<string, unknown>>

/** The read position in an attempt's output, and the parser's state there. */
export interface ReadPosition {
  readonly output: number
  readonly parserState: ParserState
}

/** One run of the session's program. The launch of the next attempt replaces the whole record. */
export interface Attempt {
  /** 1 for the first attempt of a session; 0 before its launch. */
  readonly number: number
  /** Null for a command, which gets none. */
  readonly input: TurnInput | null
  /** True if the turn of the input ended. */
  readonly isTurnOver: boolean
  /** Null before the program has started, and once the session rests or is blocked. */
  readonly process: ProcessIdentity | null
  readonly exit: Exit | null
  readonly result: TurnResult | null
  readonly activity: Activity
  readonly position: ReadPosition
}

/** Returns an attempt that has not started. */
export function newAttempt(number: number, input: TurnInput | null): Attempt {
  return {
    number,
    input,
    isTurnOver: false,
    process: null,
    exit: null,
    result: null,
    activity: { tools: [], editedAt: null, retrying: null },
    position: { output: 0, parserState: {} },
  }
}

/** Returns the session with changes in its current attempt. */
export function withAttempt<S extends { readonly attempt: Attempt }>(session: S, changes: Partial<Attempt>): S {
  return { ...session, attempt: { ...session.attempt, ...changes } }
}
