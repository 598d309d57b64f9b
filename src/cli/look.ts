import { setMaxListeners } from 'node:events'
import type { Duration } from '../lib/time.ts'
import type { Outlet } from './screen/outlet.ts'

export type Glance<T> =
  | { readonly ended: 'by-itself'; readonly value: T }
  | { readonly ended: 'interrupted' | 'timed-out' | 'unread' }

/** Exit codes that tell why a look was cut short. */
export const INTERRUPTED = 130
export const TIMED_OUT = 124

/** setTimeout counts in 31 bits and takes more for nothing at all. Who has waited for 24 days may ask again. */
const LONGEST_WAIT: Duration = 2 ** 31 - 1

/**
 * Looks at work for as long as somebody wants to. Ctrl-C, a time limit or a reader who has seen enough end the
 * looking, never the work. A second Ctrl-C ends us at once.
 */
export async function look<T>(
  limits: { timeout?: Duration | undefined; outlet?: Outlet },
  watch: (signal: AbortSignal) => Promise<T>,
): Promise<Glance<T>> {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal) // Every session that is watched listens to it.
  let why: 'interrupted' | 'timed-out' | 'unread' | undefined
  const end = (reason: NonNullable<typeof why>) => () => {
    why ??= reason
    controller.abort()
  }
  const onInterrupt = end('interrupted')
  const patience = Math.min(limits.timeout ?? 0, LONGEST_WAIT)
  const timer = limits.timeout === undefined ? undefined : setTimeout(end('timed-out'), patience)
  process.once('SIGINT', onInterrupt)
  limits.outlet?.closed.addEventListener('abort', end('unread'), { once: true })
  try {
    const value = await watch(controller.signal)
    return why === undefined ? { ended: 'by-itself', value } : { ended: why }
  } catch (cause) {
    if (why === undefined) throw cause
    return { ended: why }
  } finally {
    clearTimeout(timer)
    process.off('SIGINT', onInterrupt)
  }
}
