import type { Instant } from '../../lib/time.ts'

/**
 * Something for the agent to read; the prompt is the first. Accepted when it is here, delivered when an attempt was started
 * with it, confirmed when the agent's own record shows it. Its text lies in the session's folder.
 */
export interface Message {
  readonly id: number
  /** The sender's own: the same message sent again is the same message. */
  readonly key: string
  readonly gist: string
  /** The name of the session that sent it; absent when a person did. It gives the reader no more time and no more budget. */
  readonly by?: string
  readonly acceptedAt: Instant
  readonly deliveredAt: Instant | null
  readonly confirmedAt: Instant | null
}

/** What an attempt is started with: a message, or our own words that a broken turn goes on, in its thread or in a fresh one. */
export type TurnInput = { readonly isConfirmed: boolean } & (
  | { readonly kind: 'message'; readonly message: number }
  | { readonly kind: 'continue'; readonly why: string }
  | { readonly kind: 'digest'; readonly why: string }
)

/** The agent's own conversation, as far as we know it. */
export interface Thread {
  /** As the agent told it, or its record. */
  readonly id: string | null
  /** A session may need more than one: when a conversation has grown too long, or was lost. */
  readonly number: number
  readonly since: Instant
  /** The first attempt that works in it. */
  readonly from: number
  /** How many messages its record held when nobody was writing in it. */
  readonly heard: number
  /** What was done so far has to be told to it first. */
  readonly needsDigest: boolean
  /** How often in a row it could not be resumed. */
  readonly losses: number
}

/** Whether a thread's id can be neither an option nor a path: agents and remotes name threads, and programs and file names get the ids. */
export function isThreadId(id: string): boolean {
  return /^\w[\w.:-]{0,199}$/.test(id) && !id.includes('..')
}
