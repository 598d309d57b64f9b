import type { CheckpointRequest } from '../../../../ports/checkpoints.ts'
import type { CheckpointCommit } from '../commits.ts'
import type { NestedRepository } from '../commit-message.ts'
import type { RepositoryContext } from '../../repository-context.ts'

export interface SaveOptions {
  readonly request: CheckpointRequest
  /** Bytes; larger files are left out. */
  readonly maxFileSize: number
  /** Of the checkpoint that this is a part of; none is counted lower than those before it. */
  readonly number: number
}

/** What has come of it. */
export interface SaveOutcome {
  /** Null when there was nothing new. */
  readonly created: CheckpointCommit | null
  /** The one before. */
  readonly previous: CheckpointCommit | null
  readonly head: string | null
  /** What lies in its working tree. */
  readonly nested: readonly NestedRepository[]
}

/** Saves the working tree of one place. */
export type SaveFunction = (place: RepositoryContext, wish: SaveOptions) => Promise<SaveOutcome>
