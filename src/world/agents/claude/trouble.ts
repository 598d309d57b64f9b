/** What is known of a failed request to the model, or of the turn that it ended. */
export interface Trouble {
  /** What the program calls it: `rate_limit`, `server_error`… */
  readonly error: string
  /** A finer name that 2.1.325 has for some. */
  readonly code?: string
  /** The HTTP status; null where there was no answer. */
  readonly status: number | null
  /** `terminal_reason` of the turn. */
  readonly reason?: string
  readonly words: string
  readonly resetAt?: number | null
}
