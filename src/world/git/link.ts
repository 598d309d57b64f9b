import type { Checkpoint } from '../../core/checkpoint.ts'
import { readMessage, type Telling } from './message.ts'

/** A checkpoint as it lies in git: one of a chain, whose newest end a ref points to. */
export interface Link {
  readonly commit: string
  readonly tree: string
  readonly telling: Telling
}

/** Reads `COMMIT<NUL>TREE<NUL>MESSAGE`; null when it is some other commit. */
export function readLink(text: string): Link | null {
  const [commit = '', tree = '', message = ''] = text.split('\0')
  const telling = readMessage(message)
  return telling === null ? null : { commit, tree, telling }
}

export function checkpointOf({ commit, telling }: Link): Checkpoint {
  const { number, at, trigger, attempt, head, change, leftOut } = telling
  return { number, commit, at, trigger, attempt, head, change, leftOut }
}
