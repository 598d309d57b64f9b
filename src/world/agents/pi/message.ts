import { json, text } from '../json.ts'

/** A message of pi's, as far as it was looked at. */
export interface PiMessage {
  readonly role: string
  readonly content: unknown
  readonly stopReason: string
  readonly errorMessage: string
  /** When it began, in milliseconds since 1970; null in what is not dated. */
  readonly timestamp: number | null
  readonly usage: unknown
}

export function messageIn(value: unknown): PiMessage {
  const { role, content, stopReason, errorMessage, timestamp, usage } = json(value)
  return {
    role: text(role),
    content,
    stopReason: text(stopReason),
    errorMessage: text(errorMessage),
    timestamp: typeof timestamp === 'number' ? timestamp : null,
    usage,
  }
}
