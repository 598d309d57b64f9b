import { InvalidData, type Parser } from '../../lib/codec.ts'
import type { Instant } from '../../lib/time.ts'

/**
 * A text for the agent; the prompt is the first. oneshot accepts it when it is stored, delivers it when an attempt
 * starts with it, and confirms it when the agent's own record shows it. The session's folder holds its text.
 */
export interface Message {
  readonly id: number
  /** The sender's own key. A message that is sent again with the same key is the same message. */
  readonly key: string
  readonly summary: string
  /** The name of the session that sent it; absent if a person did. A session's message adds no time and no budget. */
  readonly by?: string
  readonly acceptedAt: Instant
  readonly deliveredAt: Instant | null
  readonly confirmedAt: Instant | null
}

/**
 * The input of an attempt: a message, or our own request to continue an interrupted turn in its thread (`continue`) or
 * in a new one (`digest`).
 */
export type TurnInput = { readonly isConfirmed: boolean } & (
  | { readonly kind: 'message'; readonly message: number }
  | { readonly kind: 'continue'; readonly why: string }
  | { readonly kind: 'digest'; readonly why: string }
)

/** The agent's own conversation, as far as we know it. */
export interface Thread {
  /** The id that the agent or its record reported. */
  readonly id: ThreadId | null
  /** A session needs another thread when a conversation has grown too long, or was lost. */
  readonly number: number
  readonly since: Instant
  /** The first attempt that works in the thread. */
  readonly from: number
  /** The number of messages in its record when nobody was writing to it. */
  readonly heard: number
  /** True if the thread must first get a digest of the work so far. */
  readonly needsDigest: boolean
  /** The number of failed resumes in a row. */
  readonly losses: number
}

declare const brand: unique symbol

/** The id of a thread. Only checked text is one, so that no other text becomes an argument or a file name. */
export type ThreadId = string & { readonly [brand]: 'thread id' }

/**
 * Returns true if a thread's id can be neither an option nor a path. Agents and remotes name threads, and the ids
 * become program arguments and file names.
 */
export function isThreadId(id: string): id is ThreadId {
  return /^\w[\w.:-]{0,199}$/.test(id) && !id.includes('..')
}

export const threadId: Parser<ThreadId> = value => {
  if (typeof value !== 'string' || !isThreadId(value)) throw new InvalidData('it is not the id of a thread')
  return value
}
