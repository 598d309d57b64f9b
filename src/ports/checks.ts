import type { Duration } from '../lib/time.ts'
import type { Checkpoint } from '../core/checkpoint/checkpoint.ts'
import type { InspectedWork } from '../core/policy/verify.ts'
import type { Session } from '../core/session/session-state.ts'

/** A command line that shows if a project is in order, and the reason for this choice. */
export interface Check {
  readonly line: string
  readonly why: string
}

export interface CheckResult {
  readonly ok: boolean
  /** The result in a sentence: `npm test: exit code 1 after 12 s`. */
  readonly how: string
  /** The end of the output, without colours, a few dozen lines at most. */
  readonly tail: string
  readonly took: Duration
  /** The number of passed tests in the whole output; null if the output does not say, or is too long. */
  readonly tests?: number | null
  /**
   * The failed check says nothing about the project: a program is missing, there was nothing to test, the caller
   * cancelled the check, or it ran out of time.
   */
  readonly isUnknown?: true
}

/** Runs the checks of a project. */
export interface Checks {
  /** Returns the check that the project itself defines; null if oneshot finds none. */
  detect(cwd: string): Check | null
  /**
   * Runs the check in this folder until it ends and writes its whole output to the log file (0600). No process of the
   * check survives the call, even if the caller cancels it or its time runs out.
   */
  run(
    check: Check,
    at: { cwd: string; env: Readonly<Record<string, string>>; log: string; limit: Duration },
    abortSignal: AbortSignal,
  ): Promise<CheckResult>
}

/** Inspects the work of a session. */
export interface WorkInspector {
  /**
   * Returns the facts about the work that the session's `verify` options ask for. `now` holds the current working tree;
   * null if oneshot could not save it. The call changes nothing, and the engine may repeat it after a crash: it first
   * ends a check that was left running. The result names each fact that the inspector could not determine.
   */
  inspect(session: Session, now: Checkpoint | null, abortSignal: AbortSignal): Promise<InspectedWork>
}
