import type { Checkpoint } from '../../core/checkpoint/checkpoint.ts'
import type { Session } from '../../core/session/session.ts'
import type { Signal } from '../../core/session/signals.ts'
import { type Checkpoints, type SaveResult, checkpointTargetOf } from '../../ports/checkpoints.ts'
import { Verifier } from './verifier.ts'
import { Pusher } from './pusher.ts'
import { Checkpointer } from './checkpointer.ts'
import { gitSummary } from '../turn-input.ts'
import { IssueSync } from './issue-sync.ts'
import type { EngineContext } from '../context.ts'

/** All who keep something of the work beside it: its files, here and on a remote, and what is still to be done. */
export class BackgroundServices {
  readonly #context: EngineContext
  readonly #checkpointer: Checkpointer
  readonly #pusher: Pusher
  readonly #issueSync: IssueSync
  readonly #verifier: Verifier

  constructor(context: EngineContext, report: (sessionId: string, signal: Signal) => Promise<void>) {
    this.#context = context
    this.#issueSync = new IssueSync(context, report)
    this.#pusher = new Pusher(context, report)
    this.#checkpointer = new Checkpointer(context, report, (session, trigger) =>
      this.#issueSync.requestSync(session, trigger),
    )
    this.#verifier = new Verifier(context, report, id => this.#checkpointer.saveNow(id, 'end'))
  }

  /** Takes up what a supervisor before us did not live to do. */
  start(): void {
    for (const session of this.#context.store.all()) this.#notifyServices(session)
    this.#issueSync.start()
  }

  /** Told of each session as it is now, as often as it changes. */
  onSessionChanged(session: Session): void {
    this.#notifyServices(session)
    this.#issueSync.onSessionChanged(session)
  }

  /** Saves what is there before an agent begins. */
  saveBeforeStart(session: Session): Promise<Signal[]> {
    return this.#checkpointer.saveBeforeStart(session)
  }

  /** What git shows of a session's work. Where it cannot be told, whoever takes it over looks themselves. */
  gitSummary(session: Session): Promise<string> {
    return gitSummary(session, this.#context.checkpoints).catch(() => '')
  }

  /** Saves its working tree now; the newest checkpoint, and whether it is new. Throws `Unkept` or `Trouble`. */
  saveNow(id: string): Promise<SaveResult> {
    return this.#checkpointer.saveNow(id, 'asked')
  }

  /** Brings a checkpoint back. Throws `Unkept` or `Trouble`. */
  restore(session: Session, checkpoint: Checkpoint, destination: RestoreTarget): Promise<RestoreResult> {
    const { checkpoints, store } = this.#context
    store.assertEpoch()
    return restoreCheckpoint(session, checkpoint, destination, { safekeeper: this.#checkpointer, checkpoints })
  }

  /** Saves what is still wanted of a session that is about to be removed. */
  saveRequested(id: string): Promise<void> {
    return this.#checkpointer.saveRequested(id)
  }

  /** Removes all that was kept of it in git. */
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

/** Where a checkpoint is to be brought back to. */
export type RestoreTarget = 'here' | { readonly branch: string; readonly worktree: string | null }

/** What was in the working tree before, if that was touched; and what could not be brought back, one sentence each. */
export interface RestoreResult {
  readonly before: Checkpoint | null
  /** How many files of the working tree are different from before; null when it was not touched. */
  readonly files: number | null
  readonly missing: readonly string[]
}

/** Brings a checkpoint back. Into the working tree only over what was saved the moment before. */
async function restoreCheckpoint(
  session: Session,
  checkpoint: Checkpoint,
  destination: RestoreTarget,
  { safekeeper, checkpoints }: { safekeeper: Checkpointer; checkpoints: Checkpoints },
): Promise<RestoreResult> {
  const target = checkpointTargetOf(session.spec)
  const { id } = session.spec
  if (destination !== 'here') {
    const missing = await safekeeper.runExclusively(id, () =>
      checkpoints.restoreToBranch(target, checkpoint, destination),
    )
    return { before: null, files: null, missing: [...checkpoint.leftOut, ...missing] }
  }
  const { checkpoint: before } = await safekeeper.saveNow(id, 'restore')
  const missing = await safekeeper.runExclusively(id, () => checkpoints.restoreInPlace(target, checkpoint, before))
  const absent = checkpoint.leftOut.filter(sentence => !missing.some(told => told.startsWith(sentence)))
  const { files } = await checkpoints.diffStat(target, before.commit, checkpoint.commit)
  return { before, files, missing: [...missing, ...absent] }
}
