import type { Duration } from '../lib/time.ts'

/** How a project is found to be in order: a line for a shell, and why it is this one. */
export interface Check {
  readonly line: string
  readonly why: string
}

export interface CheckResult {
  readonly ok: boolean
  /** How it ended, in a sentence: `npm test: exit code 1 after 12 s`. */
  readonly how: string
  /** The end of what it said, without colours, a few dozen lines at most. */
  readonly tail: string
  readonly took: Duration
  /**
   * It tells nothing about the project, although it did not end well: a program is missing, there was nothing to be tested, it was called off, or its
   * time was over.
   */
  readonly isUnknown?: true
}

/** Runs whatever tells whether a project is in order. */
export interface Checks {
  /** What the project itself has for it; null when it has nothing that could be told from here. */
  detect(cwd: string): Check | null
  /**
   * Runs it to its end in that folder, with all it says in the given file (0600), and nothing of it left alive afterwards, also when it is called
   * off or its time is over.
   */
  run(
    check: Check,
    at: { cwd: string; env: Readonly<Record<string, string>>; log: string; limit: Duration },
    ending: AbortSignal,
  ): Promise<CheckResult>
}
