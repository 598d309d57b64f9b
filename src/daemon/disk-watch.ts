import { isDiskFull } from '../lib/trouble.ts'

/** Says once that the disk is full, and once that there is room again; keeps the reserve while there is. */
export class DiskWatch {
  readonly #say: (sentence: string) => void
  readonly #keepRoom: () => boolean
  #isFull = false

  constructor(say: (sentence: string) => void, keepRoom: () => boolean) {
    this.#say = say
    this.#keepRoom = keepRoom
  }

  /** Whether a full disk is the cause of this trouble, which is then told here. */
  isWhy(cause: unknown): boolean {
    if (!isDiskFull(cause)) return false
    if (!this.#isFull)
      this.#say('the disk is full: sessions continue, but oneshot records them only when there is room')
    this.#isFull = true
    return true
  }

  look(): void {
    try {
      const hasRoom = this.#keepRoom()
      if (!this.#isFull || !hasRoom) return
      this.#isFull = false
      this.#say('the disk has room again')
    } catch (cause) {
      if (!this.isWhy(cause)) throw cause
    }
  }
}
