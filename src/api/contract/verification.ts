/** The evidence about a session's work, and the verdict. New versions add fields, and never rename or remove them. */
export interface VerificationView {
  /** The session's name. */
  readonly session: string
  readonly verdict: 'proven' | 'refuted' | 'not-proven'
  /** The verdict with the deciding evidence. */
  readonly sentence: string
  /** The reasons against it, the most important first, then the findings. */
  readonly reasons: readonly string[]
  /** Null when it is unknown. */
  readonly work: {
    readonly commitCount: number
    /** Newest first, a dozen at most. */
    readonly commits: readonly { readonly id: string; readonly subject: string }[]
    readonly files: number
    readonly added: number
    readonly removed: number
    /** Names of files, a dozen at most. */
    readonly names: readonly string[]
    readonly uncommitted: number
  } | null
  /** Notes on the sources of the evidence. */
  readonly remarks: readonly string[]
  /** The phase of the session, or its outcome. */
  readonly state: string
  readonly reason: string | null
  readonly exitCode: number | null
  readonly signal: string | null
  /** The agent's last message. */
  readonly said: string | null
  /** The last lines of its output, and in `failures` the lines that report a failure. */
  readonly output: readonly string[]
  readonly failures: readonly string[]
  /** Null when no check ran. */
  readonly check: {
    readonly line: string
    readonly why: string
    /** Null when the result is unknown. */
    readonly ok: boolean | null
    readonly how: string
    /** The number of passed tests in its output; null if the output does not say. */
    readonly tests: number | null
    readonly tail: string
    /** The file with the complete output. */
    readonly log: string
  } | null
}
