import type { SessionId } from '../core/session/session-id-and-name.ts'
import type { AttemptRef, AttemptRunner } from '../ports/runtime.ts'

const LINE_END = 0x0a

/**
 * Remembers how far the engine has searched each session's output for the end of its unfinished line. Without that,
 * each observation would read a line of many megabytes from its beginning again while the program is still writing it.
 */
export class UnfinishedLines {
  readonly #searched = new Map<string, { readonly attempt: number; readonly from: number; readonly to: number }>()

  /** Records that the line that begins at `from` has no end before `to`. */
  note({ sessionId, attempt }: AttemptRef, from: number, to: number): void {
    this.#searched.set(sessionId, { attempt, from, to })
  }

  /** Returns the number of searched bytes of the line; 0 when it is unknown. */
  searched({ sessionId, attempt }: AttemptRef, from: number): number {
    const known = this.#searched.get(sessionId)
    return known?.attempt === attempt && known.from === from ? known.to - from : 0
  }

  /** Searches only the new part of the line, and returns true when it still has no end. */
  isUnfinished(ref: AttemptRef, from: number, work: AttemptRunner, limit: number): boolean {
    const searched = this.searched(ref, from)
    if (searched === 0) return false
    const bytes = work.readOutput(ref, from + searched, limit - searched)
    if (searched + bytes.length >= limit || bytes.includes(LINE_END)) return false
    this.note(ref, from, from + searched + bytes.length)
    return true
  }

  forget(sessionId: SessionId): void {
    this.#searched.delete(sessionId)
  }
}
