import type { Checkpoint } from '../core/checkpoint.ts'
import type { Shown } from '../core/prove.ts'
import type { Session } from '../core/session.ts'

/** Looks at what a session has done. */
export interface Witness {
  /**
   * What can be seen of it, as far as its `verify` asks for it. `now` holds its working tree as it is; null where that could not be saved. It
   * changes nothing itself, and may be asked again after a crash: a check that was left running then is ended first. What cannot be
   * told is answered as such.
   */
  see(session: Session, now: Checkpoint | null, ending: AbortSignal): Promise<Shown>
}
