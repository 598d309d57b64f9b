/** One answer of the scripted model to a main turn. */
export type Answer = Common & (Spoken | Refusal | Overflow | Hang | Stall | Drop | StreamError)

interface Common {
  /** How often this answer is given; once unless told. */
  readonly times?: number | 'ever'
  /** Milliseconds before it is given. */
  readonly delay?: number
  /** Given only once the test has opened this gate: see `ModelServer.openGate`. */
  readonly gate?: string
  /** Milliseconds before each word. */
  readonly slow?: number
  readonly usage?: Usage
}

export interface Usage {
  readonly input: number
  readonly output: number
}

/** Says something, or calls the program's own tools, or both. */
export interface Spoken {
  readonly say?: string
  /** A command, or several at once, for the program's shell tool. */
  readonly shell?: string | readonly string[]
  readonly write?: { readonly path: string; readonly content: string }
  /** Any other tool of the program's own, or several at once, as it names and understands them. */
  readonly call?: ToolCall | readonly ToolCall[]
}

export interface ToolCall {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
}

export interface Refusal {
  readonly status: number
  readonly retryAfter?: number
  /** Epoch seconds: a usage limit that ends then, in the way of the dialect. */
  readonly resetAt?: number
  readonly message?: string
}

/** The context is too long. `stream`: told inside an answer that had begun well, where the dialect knows that. */
export interface Overflow {
  readonly overflow: true | 'stream'
}

export interface Hang {
  readonly hang: true
}

/** Falls silent after this many words, and keeps the line open. */
export interface Stall {
  readonly stall: number
  readonly say?: string
}

/** Cuts the line: at once, or after this many words. */
export interface Drop {
  readonly drop: true | number
  readonly say?: string
}

/** An answer that begins well and turns into an error inside the stream. */
export interface StreamError {
  readonly sseError: true | string
}

/** One answer per main turn, in order, whatever the conversation says. */
export type Positions = readonly Answer[]

/**
 * The next answer is the first step that the conversation does not show as done, so that a program that was killed and
 * resumed is given what is missing. Failures leave no trace in a conversation; each is given once per server.
 */
export interface Task {
  readonly task?: readonly Answer[]
  /** What to do about a message that matches; its steps are looked for only after that message. */
  readonly messages?: readonly OnMessage[]
}

export interface OnMessage {
  /** A regular expression. */
  readonly on: string
  readonly do: readonly Answer[]
}

export type Script = Positions | Task

export const DONE: Answer = { say: 'Done.' }

/** Commands, files and other calls of an answer, in their order. */
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

/** Whether a conversation shows afterwards that this answer was given. */
export function leavesTrace(answer: Answer): boolean {
  return !['status', 'overflow', 'hang', 'stall', 'drop', 'sseError'].some(failure => failure in answer)
}

/** The answer at this place, when each is repeated as often as it wants; undefined past the end. */
export function answerAt(answers: readonly Answer[], place: number): Answer | undefined {
  let left = place
  for (const answer of answers) {
    const times = answer.times ?? 1
    if (times === 'ever' || left < times) return answer
    left -= times
  }
  return undefined
}
