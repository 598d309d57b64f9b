import type { Occasion } from '../../../ports/checkpoints.ts'
import type { Link } from '../link.ts'
import type { Nested } from '../message.ts'
import type { Place } from '../place.ts'

export interface Wish {
  readonly occasion: Occasion
  /** Bytes; larger files are left out. */
  readonly largest: number
  /** Of the checkpoint that this is a part of; none is counted lower than those before it. */
  readonly number: number
}

/** What has come of it. */
export interface Outcome {
  /** Null when there was nothing new. */
  readonly made: Link | null
  /** The one before. */
  readonly last: Link | null
  readonly head: string | null
  /** What lies in its working tree. */
  readonly nested: readonly Nested[]
}

/** Saves the working tree of one place. */
export type Save = (place: Place, wish: Wish) => Promise<Outcome>
