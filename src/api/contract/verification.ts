/** What can be seen of a session's work, and what follows from it. Fields are added, never renamed or removed. */
export interface VerificationView {
  /** The session's name. */
  readonly session: string
  readonly verdict: 'proven' | 'refuted' | 'not-proven'
  /** The verdict with what decides it. */
  readonly sentence: string
  /** What speaks against it, the weightiest first, then what was found. */
  readonly reasons: readonly string[]
  /** Null where it cannot be told. */
  readonly work: {
    readonly commitCount: number
    /** Newest first, a dozen at most. */
    readonly commits: readonly { readonly id: string; readonly subject: string }[]
    readonly files: number
    readonly added: number
    readonly removed: number
    /** Of files, a dozen at most. */
    readonly names: readonly string[]
    readonly uncommitted: number
  } | null
  /** What is to be known about how this was found. */
  readonly remarks: readonly string[]
  /** Whether it has ended, and how. */
  readonly state: string
  readonly reason: string | null
  readonly exitCode: number | null
  readonly signal: string | null
  /** What the agent said at its end. */
  readonly said: string | null
  /** The last lines of its output, and those of them that tell of failure. */
  readonly output: readonly string[]
  readonly failures: readonly string[]
  /** Null where nothing was run. */
  readonly check: {
    readonly line: string
    readonly why: string
    /** Null where it tells nothing. */
    readonly ok: boolean | null
    readonly how: string
    readonly tail: string
    /** The file with all it said. */
    readonly log: string
  } | null
}
