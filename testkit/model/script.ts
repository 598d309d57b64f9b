/** One answer of the scripted model to a main turn. */
export type Answer = Common & (Spoken | Refusal | Overflow | Hang | Stall | Drop | StreamError)

interface Common {
  /** Number of times that this answer is given; default once. */
  readonly times?: number | 'ever'
  /** Milliseconds before the answer. */
  readonly delay?: number
  /** The answer waits until the test opens this gate: see `ModelServer.openGate`. */
  readonly gate?: string
  /** Milliseconds before each word. */
  readonly slow?: number
  readonly usage?: Usage
}

export interface Usage {
  readonly input: number
  readonly output: number
}

/** Sends text, calls the program's own tools, or both. */
export interface Spoken {
  readonly say?: string
  /** One or several commands for the program's shell tool. */
  readonly shell?: string | readonly string[]
  readonly write?: { readonly path: string; readonly content: string }
  /** One or several calls of other tools, by the program's own names and formats. */
  readonly call?: ToolCall | readonly ToolCall[]
}

export interface ToolCall {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
}

export interface Refusal {
  readonly status: number
  readonly retryAfter?: number
  /** Epoch seconds: end of a usage limit, in the form of the dialect. */
  readonly resetAt?: number
  readonly message?: string
}

/** The context is too long. `stream`: the error comes within a stream that began well, if the dialect has that. */
export interface Overflow {
  readonly overflow: true | 'stream'
}

export interface Hang {
  readonly hang: true
}

/** Stops after this many words and keeps the connection open. */
export interface Stall {
  readonly stall: number
  readonly say?: string
}

/** Drops the connection: at once, or after this many words. */
export interface Drop {
  readonly drop: true | number
  readonly say?: string
}

/** An answer that begins well and becomes an error within the stream. */
export interface StreamError {
  readonly sseError: true | string
}

/** One answer per main turn, in order, whatever the conversation says. */
export type Positions = readonly Answer[]

/**
 * The next answer is the first step that the conversation does not show as done, so that a killed and resumed program
 * gets the missing steps. Failures leave no trace in a conversation; the server gives each once.
 */
export interface Task {
  readonly task?: readonly Answer[]
  /** Steps for matching messages; their traces count only after that message. */
  readonly messages?: readonly OnMessage[]
}

export interface OnMessage {
  /** A regular expression. */
  readonly on: string
  readonly do: readonly Answer[]
}

export type Script = Positions | Task

export const DONE: Answer = { say: 'Done.' }

/** Returns the commands, files and other calls of an answer, in order. */
export function toolActions(answer: Answer): ToolAction[] {
  const { shell, write, call }: Spoken = 'shell' in answer || 'write' in answer || 'call' in answer ? answer : {}
  const commands = shell === undefined ? [] : typeof shell === 'string' ? [shell] : shell
  const calls = call === undefined ? [] : 'tool' in call ? [call] : call
  return [
    ...commands.map((command): ToolAction => ({ kind: 'shell', command })),
    ...(write === undefined ? [] : [{ kind: 'write' as const, ...write }]),
    ...calls.map((each): ToolAction => ({ kind: 'call', ...each })),
  ]
}

export type ToolAction =
  | { readonly kind: 'shell'; readonly command: string }
  | { readonly kind: 'write'; readonly path: string; readonly content: string }
  | ({ readonly kind: 'call' } & ToolCall)

/** Returns true if a later conversation shows that this answer was given. */
export function leavesTrace(answer: Answer): boolean {
  return !['status', 'overflow', 'hang', 'stall', 'drop', 'sseError'].some(failure => failure in answer)
}

/** Returns the answer at this position, counting repetitions; undefined after the end. */
export function answerAt(answers: readonly Answer[], place: number): Answer | undefined {
  let left = place
  for (const answer of answers) {
    const times = answer.times ?? 1
    if (times === 'ever' || left < times) return answer
    left -= times
  }
  return undefined
}
