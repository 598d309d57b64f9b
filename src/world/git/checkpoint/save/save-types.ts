import type { CheckpointRequest } from '../../../../ports/checkpoints.ts'
import type { CheckpointCommit } from '../read-commits.ts'
import type { NestedRepository } from '../commit-message.ts'
import type { RepositoryContext } from '../../repository-context.ts'

export interface SaveOptions {
  readonly request: CheckpointRequest
  /** Bytes; a checkpoint leaves out larger files. */
  readonly maxFileSize: number
  /** The number of the whole checkpoint; numbers of one repository never decrease. */
  readonly number: number
  /** Sentences about everything that earlier checkpoints have lost; the new checkpoint names them. */
  readonly losses?: readonly string[]
}

/** The result of a save. */
export interface SaveOutcome {
  /** Null if nothing changed. */
  readonly created: CheckpointCommit | null
  /** The previous checkpoint. */
  readonly previous: CheckpointCommit | null
  readonly head: string | null
  /** Sentences about everything that is not saved, also if nothing else changed. */
  readonly leftOut: readonly string[]
  /** The repositories inside the working tree. */
  readonly nested: readonly NestedRepository[]
}

/** Saves one working tree. */
export type SaveFunction = (context: RepositoryContext, options: SaveOptions) => Promise<SaveOutcome>
