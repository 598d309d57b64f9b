import type { Duration } from '../lib/time.ts'
import type { Checkpoint } from '../core/checkpoint/checkpoint.ts'
import type { InspectedWork } from '../core/policy/verify.ts'
import type { Session } from '../core/session/session.ts'

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
    abortSignal: AbortSignal,
  ): Promise<CheckResult>
}

/** Looks at what a session has done. */
export interface WorkInspector {
  /**
   * What can be seen of it, as far as its `verify` asks for it. `now` holds its working tree as it is; null where that could not be saved. It
   * changes nothing itself, and may be asked again after a crash: a check that was left running then is ended first. What cannot be
   * told is answered as such.
   */
  inspect(session: Session, now: Checkpoint | null, abortSignal: AbortSignal): Promise<InspectedWork>
}
