import type { Checkpoint } from '../../core/checkpoint/checkpoint.ts'
import type { SessionId } from '../../core/session/session-id-and-name.ts'
import type { Session } from '../../core/session/session-state.ts'
import type { Signal } from '../../core/session/signals.ts'
import { type Checkpoints, type SaveResult, checkpointTargetOf } from '../../ports/checkpoints.ts'
import { Verifier } from './verifier.ts'
import { Pusher } from './pusher.ts'
import { Checkpointer } from './checkpointer.ts'
import { gitSummary } from '../turn-input.ts'
import { IssueSync } from './issue-sync.ts'
import type { EngineContext } from '../context.ts'

/** Bundles the services beside the work: checkpoints, pushes, verification and the task tracker. */
export class BackgroundServices {
  readonly #context: EngineContext
  readonly #checkpointer: Checkpointer
  readonly #pusher: Pusher
  readonly #issueSync: IssueSync
  readonly #verifier: Verifier

  constructor(context: EngineContext, report: (sessionId: SessionId, signal: Signal) => Promise<void>) {
    this.#context = context
    this.#issueSync = new IssueSync(context, report)
    this.#pusher = new Pusher(context, report)
    this.#checkpointer = new Checkpointer(context, report, (session, trigger) =>
      this.#issueSync.requestSync(session, trigger),
    )
    this.#verifier = new Verifier(context, report, id => this.#checkpointer.saveNow(id, 'end'))
  }

  /** Continues the work that an earlier supervisor did not finish before its end. */
  start(): void {
    for (const session of this.#context.store.unsettled()) this.#notifyServices(session)
    this.#issueSync.start()
  }

  /** The engine calls this with the current session after each change. */
  onSessionChanged(session: Session): void {
    this.#notifyServices(session)
    this.#issueSync.onSessionChanged(session)
  }

  /** Returns true when an ended session still has a checkpoint to save or to push, or issues to close. */
  hasOpenWork(session: Session): boolean {
    return session.saved.wanted !== null || this.#pusher.isWanted(session) || this.#issueSync.isWanted(session)
  }

  /** Saves the state of the working tree before the first attempt. */
  saveBeforeStart(session: Session): Promise<Signal[]> {
    return this.#checkpointer.saveBeforeStart(session)
  }

  /**
   * Returns git's summary of a session's work; empty on failure, because the agent can look at the repository itself.
   */
  gitSummary(session: Session): Promise<string> {
    return gitSummary(session, this.#context.checkpoints).catch(() => '')
  }

  /**
   * Saves the working tree now. Returns the newest checkpoint, and says if it is new. Throws `NotSaved` or `Trouble`.
   */
  saveNow(id: SessionId): Promise<SaveResult> {
    return this.#checkpointer.saveNow(id, 'asked')
  }

  /** Restores a checkpoint. Throws `NotSaved` or `Trouble`. */
  restore(session: Session, checkpoint: Checkpoint, destination: RestoreTarget): Promise<RestoreResult> {
    const { checkpoints, store } = this.#context
    store.assertEpoch()
    return restoreCheckpoint(session, checkpoint, destination, { checkpointer: this.#checkpointer, checkpoints })
  }

  /** Saves the pending request of a session before its removal. */
  saveRequested(id: SessionId): Promise<void> {
    return this.#checkpointer.saveRequested(id)
  }

  /** Removes all checkpoints of the session from git. */
  removeCheckpoints(session: Session): Promise<void> {
    return this.#checkpointer.removeCheckpoints(session)
  }

  async stop(): Promise<void> {
    await Promise.all([this.#checkpointer.stop(), this.#pusher.stop(), this.#issueSync.stop(), this.#verifier.stop()])
  }

  #notifyServices(session: Session): void {
    this.#checkpointer.onSessionChanged(session)
    this.#pusher.onSessionChanged(session)
    this.#verifier.onSessionChanged(session)
  }
}

/** The destination of a restore. */
export type RestoreTarget = 'here' | { readonly branch: string; readonly worktree: string | null }

/**
 * The state of the working tree before the restore, if the restore changed it, and one sentence for each item that it
 * could not restore.
 */
export interface RestoreResult {
  readonly before: Checkpoint | null
  /** Number of files in the working tree that differ from before; null when the restore did not change it. */
  readonly files: number | null
  readonly missing: readonly string[]
}

/** Restores a checkpoint. A restore into the working tree saves the current state first. */
async function restoreCheckpoint(
  session: Session,
  checkpoint: Checkpoint,
  destination: RestoreTarget,
  { checkpointer, checkpoints }: { checkpointer: Checkpointer; checkpoints: Checkpoints },
): Promise<RestoreResult> {
  const target = checkpointTargetOf(session.spec)
  const { id } = session.spec
  if (destination !== 'here') {
    const missing = await checkpointer.runExclusively(id, () =>
      checkpoints.restoreToBranch(target, checkpoint, destination),
    )
    return { before: null, files: null, missing: [...checkpoint.leftOut, ...missing] }
  }
  const { checkpoint: before } = await checkpointer.saveNow(id, 'restore')
  const missing = await checkpointer.runExclusively(id, () => checkpoints.restoreInPlace(target, checkpoint, before))
  const absent = checkpoint.leftOut.filter(sentence => !missing.some(told => told.startsWith(sentence)))
  const { files } = await checkpoints.diffStat(target, before.commit, checkpoint.commit)
  return { before, files, missing: [...missing, ...absent] }
}
