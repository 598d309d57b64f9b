import { isDiskFull } from '../lib/trouble.ts'

/** Says once that the disk is full, and once that there is room again; keeps the reserve while there is. */
export class DiskWatch {
  readonly #say: (sentence: string) => void
  readonly #keepRoom: () => Promise<boolean>
  #isFull = false
  #isLooking = false

  constructor(say: (sentence: string) => void, keepRoom: () => Promise<boolean>) {
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

  /** Does nothing while the reserve is still being written. */
  async look(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      const hasRoom = await this.#keepRoom()
      if (!this.#isFull || !hasRoom) return
      this.#isFull = false
      this.#say('the disk has room again')
    } catch (cause) {
      if (!this.isWhy(cause)) throw cause
    } finally {
      this.#isLooking = false
    }
  }
}
