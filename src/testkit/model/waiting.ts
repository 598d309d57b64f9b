/** Those who wait for something to become so, and are told to look again. */
export class Waiting {
  readonly #looks = new Set<() => void>()

  lookAgain(): void {
    for (const look of this.#looks) look()
  }

  /** Ends when it is so; throws what `isSo` throws, and when it is stopped. */
  until(isSo: () => boolean, stop: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        this.#looks.delete(look)
        stop.removeEventListener('abort', giveUp)
        settle()
      }
      const giveUp = (): void => end(() => reject(new Error('waited in vain')))
      const look = (): void => {
        try {
          if (isSo()) end(resolve)
        } catch (cause) {
          end(() => reject(cause))
        }
      }
      stop.addEventListener('abort', giveUp)
      this.#looks.add(look)
      if (stop.aborted) giveUp()
      else look()
    })
  }
}
