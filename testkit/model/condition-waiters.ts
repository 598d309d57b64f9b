/** Callers that wait for conditions; `recheck` checks them again. */
export class ConditionWaiters {
  readonly #checks = new Set<() => void>()

  recheck(): void {
    for (const look of this.#checks) look()
  }

  /** Resolves when `isSo` returns true. Rejects with the error of `isSo`, or when stopped. */
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
