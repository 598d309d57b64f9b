import type { AttemptRef, Runtime } from '../ports/runtime.ts'

const LINE_END = 0x0a

/**
 * Remembers how far the output of each session was searched for the end of its unfinished line. Without that, each look would read a
 * line of many megabytes from its beginning again, while its program is still writing it.
 */
export class UnfinishedLines {
  readonly #searched = new Map<string, { readonly attempt: number; readonly from: number; readonly to: number }>()

  /** Notes that the line that begins at `from` has no end before `to`. */
  note({ sessionId, attempt }: AttemptRef, from: number, to: number): void {
    this.#searched.set(sessionId, { attempt, from, to })
  }

  /** How much of the line was searched; 0 when nobody knows. */
  searched({ sessionId, attempt }: AttemptRef, from: number): number {
    const known = this.#searched.get(sessionId)
    return known?.attempt === attempt && known.from === from ? known.to - from : 0
  }

  /** Whether the line has still no end, by its new part alone. */
  isUnfinished(ref: AttemptRef, from: number, work: Runtime, limit: number): boolean {
    const searched = this.searched(ref, from)
    if (searched === 0) return false
    const bytes = work.readOutput(ref, from + searched, limit - searched)
    if (searched + bytes.length >= limit || bytes.includes(LINE_END)) return false
    this.note(ref, from, from + searched + bytes.length)
    return true
  }

  forget(sessionId: string): void {
    this.#searched.delete(sessionId)
  }
}
