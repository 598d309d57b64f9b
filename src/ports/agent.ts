import type { Autonomy, Exit, TurnResult, ParserState, Mode, SuccessCriterion } from '../core/session/session.ts'
import type { AgentUpdate } from '../core/session/signals.ts'
import type { Duration, Instant } from '../lib/time.ts'

/** What an agent's program said, in our words. */
export type Observation =
  | { readonly type: 'threaded'; readonly thread: string }
  | { readonly type: 'asked'; readonly question: string }
  | { readonly type: 'answered' }
  /** A turn ended, as far as the program knows. A later word replaces an earlier one. */
  | { readonly type: 'finished'; readonly word: TurnResult }
  | AgentUpdate

export type { ParserState } from '../core/session/session.ts'

export interface ParsedLine {
  readonly observations: readonly Observation[]
  /** How a person would read the line: whole lines with their ends; null for what is not worth reading. */
  readonly text: string | null
  /** Absent: as before. */
  readonly memory?: ParserState
}

export interface LaunchRequest {
  /** The resolved program with the caller's own arguments. */
  readonly argv: readonly string[]
  readonly mode: Mode
  readonly cwd: string
  /** The session's saved environment. */
  readonly env: Readonly<Record<string, string>>
  /** The thread to resume; null starts one. */
  readonly resume: string | null
  /** A UUID of this session's current thread: its id where the program lets us choose one, else a tag to find it by. */
  readonly tag: string
  /** Whether the text goes on with a turn that was broken off, rather than being a new message. */
  readonly isContinuation: boolean
  readonly autonomy: Autonomy
  readonly model: string | null
  readonly effort: string | null
  /** What may still be spent, null for no limit. For programs that can stop by themselves. */
  readonly budget: { readonly usd: number | null; readonly turns: number | null }
}

export interface LaunchPlan {
  /** The whole argv, program first. */
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Whether the program reads what it is to do on stdin. */
  readonly stdin: 'text' | 'none'
}

/** What is known about a thread before its own record is looked up. */
export interface ThreadQuery {
  /** As the program told it; null while it has not. */
  readonly thread: string | null
  /** As given to `plan`. */
  readonly tag: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** When the first attempt of this thread was launched. */
  readonly since: Instant
  /** Threads that belong to other sessions: none of them is this one. */
  readonly others: readonly string[]
  /** The first text it was given: tells a thread whose id was never told from its neighbours. */
  readonly opening: string
}

/** An agent's own record of its thread, on disk. */
export interface ThreadRecord {
  readonly thread: string
  /** What people (or we for them) said in it, in order and in full. Tool results and the program's own notes do not count. */
  readonly messages: readonly string[]
  /** When it was last written, where that can be told of this thread alone. */
  readonly writtenAt?: Instant
}

export interface ExitEvidence {
  readonly exit: Exit
  readonly word: TurnResult | null
  /** The end of what it wrote to stderr. */
  readonly stderr: string
  readonly memory: ParserState
  readonly env: Readonly<Record<string, string>>
}

/** Why a program cannot be started as asked, as a sentence, and what to do instead. */
export interface LaunchProblem {
  readonly problem: string
  readonly remedy: string
}

/** Knows one agent program: how it is started and resumed, and what its output means. */
export interface Agent {
  readonly kind: string
  readonly proof: SuccessCriterion
  readonly defaultMode: Mode
  readonly modes: readonly Mode[]
  /** Without any sign of life for this long it is hung, unless its user says otherwise; null for programs that may be quiet. */
  readonly silence: Duration | null
  /** Whether it reads a prompt. A command does not. */
  readonly takesPrompt: boolean
  /** Where to find the program when the caller names none: a name for PATH, or an argv of our own. */
  readonly program: string | readonly string[]
  /** Asked before the work is accepted; null when it can be started. */
  readonly validate?: (request: LaunchRequest, user: { isRoot: boolean }) => LaunchProblem | null
  /** How to start it, or to resume a thread. */
  planLaunch(request: LaunchRequest): LaunchPlan
  /** How a person goes on with a thread without us, in its folder: the whole argv. Absent where that makes no sense. */
  readonly resumeCommand?: (program: string, thread: string) => readonly string[]
  /** What a line of output means, and how a person would read it. Absent when output is not interpreted. */
  readonly readLine?: (line: string, memory: ParserState) => ParsedLine
  /** Looks up the program's own record of a thread; null when there is none. Absent: it keeps none that we can read. */
  readonly findThread?: (place: ThreadQuery) => ThreadRecord | null
  /** What its end means where the words alone do not tell, or tell wrong: the last word to go by; null leaves it as it is. */
  readonly explainExit?: (ending: ExitEvidence) => TurnResult | null
}
