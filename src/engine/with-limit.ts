import { type Duration, formatDuration } from '../lib/time.ts'
import { Trouble } from '../lib/trouble.ts'
import type { Clock } from '../ports/clock.ts'

/** Does something that ends when its time is over or everything does, whether it listens or not. */
export function withLimit<T>(
  deed: (signal: AbortSignal) => Promise<T>,
  { clock, limit, doing, ending }: { clock: Clock; limit: Duration; doing: string; ending: AbortSignal },
): Promise<T> {
  const end = new AbortController()
  return new Promise<T>((resolve, reject) => {
    const breakOff = (why: string): void => {
      end.abort()
      reject(new Trouble(doing, why))
    }
    const whenAllEnds = (): void => breakOff('the supervisor is being stopped')
    if (ending.aborted) return whenAllEnds()
    ending.addEventListener('abort', whenAllEnds)
    const cancel = clock.ring(clock.now() + limit, () => breakOff(`no answer within ${formatDuration(limit)}`))
    const finish = (): void => {
      cancel()
      ending.removeEventListener('abort', whenAllEnds)
    }
    const done = (async () => deed(end.signal))() // What it throws at once is no different.
    done.finally(finish).then(resolve, reject)
  })
}
