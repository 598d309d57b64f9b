import type { Call, Conversation } from '../conversation.ts'
import type { Refusal, Usage } from '../script.ts'

/** One way in which programs and models talk over HTTP. */
export interface Dialect {
  readonly name: 'anthropic' | 'responses' | 'chat' | 'gemini'
  parseRequest(body: unknown, path: string): Conversation
  /** The answer in one piece. */
  fullResponse(reply: Reply): unknown
  /** The answer as a stream. */
  frames(reply: Reply): Frame[]
  /** A stream that begins well and turns into an error. */
  brokenStream(reply: Reply, message: string): Frame[]
  errorResponse(refusal: Refusal): ErrorResponse
  overflow: ErrorResponse
  /** Where overflow may be told inside a stream. */
  overflowing?: (reply: Reply) => Frame[]
}

export interface Reply {
  /** Unlike that of any other reply of this server: claude takes two messages with one id for one. */
  readonly id: string
  readonly model: string
  readonly words: readonly string[]
  readonly calls: readonly Call[]
  readonly usage: Usage
}

/** One event of a stream. */
export interface Frame {
  readonly event?: string
  readonly data: unknown
  readonly isWord?: boolean
}

export interface ErrorResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** Words with the white space before them, so that together they are the text. */
export function wordsOf(text: string): string[] {
  return text.match(/\s*\S+(\s+$)?/g) ?? (text === '' ? [] : [text])
}

export function retryHeader({ retryAfter }: Refusal): Record<string, string> {
  return retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }
}
