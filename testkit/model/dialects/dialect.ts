import type { Call, Conversation } from '../conversation.ts'
import type { Refusal, Usage } from '../script.ts'

/** A protocol between programs and models over HTTP. */
export interface Dialect {
  readonly name: 'anthropic' | 'responses' | 'chat' | 'gemini'
  parseRequest(body: unknown, path: string): Conversation
  /** Renders the answer in one piece. */
  fullResponse(reply: Reply): unknown
  /** Renders the answer as a stream. */
  frames(reply: Reply): Frame[]
  /** Renders a stream that begins well and becomes an error. */
  brokenStream(reply: Reply, message: string): Frame[]
  errorResponse(refusal: Refusal): ErrorResponse
  overflow: ErrorResponse
  /** Renders an overflow within a stream, if the dialect has that. */
  overflowing?: (reply: Reply) => Frame[]
}

export interface Reply {
  /** Unique among the replies of this server: claude merges two messages with the same id. */
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

/** Splits a text into words with the white space before them; joined, they are the text. */
export function wordsOf(text: string): string[] {
  return text.match(/\s*\S+(\s+$)?/g) ?? (text === '' ? [] : [text])
}

export function retryHeader({ retryAfter }: Refusal): Record<string, string> {
  return retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }
}
