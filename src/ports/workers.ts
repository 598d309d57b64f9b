import type { WorkerExit } from '../core/loop/signals.ts'
import type { WorkerOptions } from '../core/loop/spec.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import type { Phase } from '../core/session/session-state.ts'

/** A request for a worker: its options, and what is special to this iteration. */
export interface WorkerRequest {
  readonly options: WorkerOptions
  readonly name: string
  readonly prompt: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** A worker session. */
export interface Worker {
  readonly id: SessionId
  readonly name: string
}

/** The present state of a worker session. */
export interface WorkerState {
  readonly phase: Phase['name']
  /** The reason why it rests, is blocked or has ended, in a sentence. */
  readonly reason: string | null
  /** The problem kind in one word; null without a problem. */
  readonly problem: string | null
}

/**
 * The worker sessions of one loop. Workers live on while the loop's program is dead. A call waits while no supervisor
 * answers, until its signal aborts.
 */
export interface Workers {
  /**
   * Starts the worker with this key, or resumes it if it was stopped together with its loop. A key has one session: a
   * repeated call finds it, even after a crash in the middle of the first call, and whether it has ended or not. Throws
   * `Refusal` if the supervisor refuses the session, and `Refusal` with the code `name-taken` if another session has the
   * name.
   */
  ensureRunning(key: string, request: WorkerRequest, ending: AbortSignal): Promise<Worker>
  /** Resumes a blocked worker after the loop has solved its problem; does nothing for a worker that is not blocked. */
  resume(id: SessionId, ending: AbortSignal): Promise<void>
  /** Yields the state now and after each change, until the worker has ended, no longer exists, or the signal aborts. */
  watch(id: SessionId, ending: AbortSignal): AsyncGenerator<WorkerState>
  /** Returns the end of a worker; `failed` for a session that no longer exists. */
  readExit(id: SessionId): WorkerExit
  /** Returns true if the loop itself must stop: the supervisor then stops its workers too, without a user's request. */
  isLoopStopping(): boolean
  /** Stops all running workers; resolves when the supervisor has recorded that. */
  stopAll(ending: AbortSignal): Promise<void>
}

/** Other loops of this home that work in the user's checkout itself, one task after the other. */
export interface SerialLoops {
  /**
   * Returns the name of a serial loop that works in this loop's checkout. `isEarlier`: only a loop that was started or
   * resumed before this one, and only if this one is serial too.
   */
  find(how?: { readonly isEarlier: boolean }): string | null
}
