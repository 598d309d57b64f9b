import type { Duration } from '../lib/time.ts'
import type { Clock } from '../ports/clock.ts'
import { Superseded } from '../ports/store.ts'

/** How long to wait for a disk that is full, or a configuration that cannot be understood. */
export const TRY_AGAIN: Duration = 30_000

interface Circumstances {
  readonly clock: Clock
  readonly onTrouble: (sessionId: string, cause: unknown) => void
  readonly ending: AbortSignal
}

/** Writes something down, again and again until it is, for whoever must not act before that. */
export async function insist(work: () => void, circumstances: Circumstances): Promise<void> {
  const { onTrouble, ending } = circumstances
  while (!ending.aborted) {
    try {
      return work()
    } catch (cause) {
      onTrouble('', cause)
      if (cause instanceof Superseded) return
    }
    await pause(TRY_AGAIN, circumstances)
  }
}

/** Resolves after that time, or when everything ends. */
export function pause(duration: Duration, { clock, ending }: Pick<Circumstances, 'clock' | 'ending'>): Promise<void> {
  return new Promise(resolve => {
    const wake = (): void => {
      cancel()
      ending.removeEventListener('abort', wake)
      resolve()
    }
    const cancel = clock.ring(clock.now() + duration, wake)
    ending.addEventListener('abort', wake)
  })
}
