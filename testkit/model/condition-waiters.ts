/** Those who wait for something to become so, and are told to look again. */
export class ConditionWaiters {
  readonly #checks = new Set<() => void>()

  recheck(): void {
    for (const look of this.#checks) look()
  }

  /** Ends when it is so; throws what `isSo` throws, and when it is stopped. */
  until(isSo: () => boolean, stop: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        this.#checks.delete(look)
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
      this.#checks.add(look)
      if (stop.aborted) giveUp()
      else look()
    })
  }
}
