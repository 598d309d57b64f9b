import type { Exit, TurnResult, ParserState } from '../core/session/attempt.ts'
import type { ThreadId } from '../core/session/conversation.ts'
import type { Autonomy, Mode, SuccessCriterion } from '../core/session/session-state.ts'
import type { AgentUpdate } from '../core/session/signals.ts'
import type { Duration, Instant } from '../lib/time.ts'

/** One fact that an adapter read from the output of the agent's program. */
export type Observation =
  /** The program names its thread. The name is unchecked. */
  | { readonly type: 'threaded'; readonly thread: string }
  | { readonly type: 'asked'; readonly question: string }
  | { readonly type: 'answered' }
  /** The program reports that a turn ended. A later report replaces an earlier one. */
  | { readonly type: 'finished'; readonly word: TurnResult }
  | AgentUpdate

export type { ParserState } from '../core/session/attempt.ts'

/** `S` is the adapter's own type of the state. Its adapter reads it from the stored JSON before each line. */
export interface ParsedLine<S extends ParserState = ParserState> {
  readonly observations: readonly Observation[]
  /** The line as a person reads it: whole lines with their line ends; null if the line is not worth reading. */
  readonly text: string | null
  /** The state for the next line. Absent: the state did not change. */
  readonly memory?: S
}

export interface LaunchRequest {
  /** The resolved program, followed by the caller's own arguments. */
  readonly argv: readonly string[]
  readonly mode: Mode
  readonly cwd: string
  /** The session's saved environment. */
  readonly env: Readonly<Record<string, string>>
  /** The thread to resume; null starts a new thread. */
  readonly resume: ThreadId | null
  /**
   * A UUID for the session's current thread: the thread's id if the program lets us choose one, else a tag to find it
   * by.
   */
  readonly tag: ThreadId
  /** True if the text continues an interrupted turn; false if it is a new message. */
  readonly isContinuation: boolean
  readonly autonomy: Autonomy
  readonly model: string | null
  readonly effort: string | null
  /** The rest of the budget, null for no limit. A program that can stop by itself gets it as an option. */
  readonly budget: { readonly usd: number | null; readonly turns: number | null }
}

export interface LaunchPlan {
  /** The whole argv, program first. */
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** `text`: the program reads its input on stdin. */
  readonly stdin: 'text' | 'none'
}

/** The facts about a thread that are known before the lookup of its record. */
export interface ThreadQuery {
  /** The id that the program reported; null until it reports one. */
  readonly thread: ThreadId | null
  /** The tag that `planLaunch` got. */
  readonly tag: ThreadId
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** The time at which oneshot launched the first attempt of this thread. */
  readonly since: Instant
  /** Returns true for a thread of another session. The lookup never returns such a thread. */
  readonly isForeign: (thread: ThreadId) => boolean
  /** The first text of the thread. It identifies a thread whose id the program never reported. */
  readonly opening: string
}

/** The agent's own record of a thread, on disk. */
export interface ThreadRecord {
  readonly thread: ThreadId
  /**
   * All messages from people, or from us on their behalf, in order and in full. Tool results and the program's own
   * notes do not count.
   */
  readonly messages: readonly string[]
  /** The last write to the record, if the record shows it for this thread alone. */
  readonly writtenAt?: Instant
}

export interface ExitEvidence {
  readonly exit: Exit
  readonly word: TurnResult | null
  /** The end of the program's stderr. */
  readonly stderr: string
  readonly memory: ParserState
  readonly env: Readonly<Record<string, string>>
}

/** The reason why a program cannot start as requested, in a sentence, and the remedy. */
export interface LaunchProblem {
  readonly problem: string
  readonly remedy: string
}

/** The adapter of one agent program. It knows how to start and resume the program and what its output means. */
export interface Agent {
  readonly kind: string
  readonly proof: SuccessCriterion
  readonly defaultMode: Mode
  readonly modes: readonly Mode[]
  /**
   * After this time without a sign of life the program counts as hung, unless the user sets another limit; null for
   * programs that may be quiet.
   */
  readonly silence: Duration | null
  /** True if the program reads a prompt. A command does not. */
  readonly takesPrompt: boolean
  /** The program to use when the caller names none: a name to look up in PATH, or an argv of our own. */
  readonly program: string | readonly string[]
  /** Checks a request before oneshot accepts the work; returns null if the program can start. */
  readonly validate?: (request: LaunchRequest, user: { isRoot: boolean }) => LaunchProblem | null
  /** Returns the command that starts the program, or that resumes a thread. */
  planLaunch(request: LaunchRequest): LaunchPlan
  /**
   * Returns the whole argv with which a person continues a thread in its folder, without oneshot. Absent if that makes
   * no sense.
   */
  readonly resumeCommand?: (program: string, thread: ThreadId) => readonly string[]
  /** Interprets a line of output and renders it for people. Absent if the adapter does not interpret output. */
  readonly readLine?: (line: string, memory: ParserState) => ParsedLine
  /**
   * Looks up the program's own record of a thread; returns null if there is none. Absent: the program keeps no record
   * that we can read.
   */
  readonly findThread?: (place: ThreadQuery) => ThreadRecord | null
  /**
   * Interprets an exit for which the reported result is missing or wrong, and returns the result to use; null keeps the
   * reported one.
   */
  readonly explainExit?: (ending: ExitEvidence) => TurnResult | null
}
