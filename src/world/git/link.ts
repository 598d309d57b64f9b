import type { Checkpoint } from '../../core/checkpoint.ts'
import type { Telling } from './message.ts'

/** A checkpoint as it lies in git: one of a chain, whose newest end a ref points to. */
export interface Link {
  readonly commit: string
  readonly tree: string
  readonly telling: Telling
}

export function checkpointOf({ commit, telling }: Link): Checkpoint {
  const { number, at, trigger, attempt, head, change, leftOut } = telling
  return { number, commit, at, trigger, attempt, head, change, leftOut }
}
