import { setMaxListeners } from 'node:events'
import type { Duration } from '../../lib/time.ts'
import type { Output } from './output.ts'
import type { Screen } from './command-streams.ts'
import type { SessionView } from '../../api/contract/responses.ts'

export type WatchResult<T> =
  | { readonly ended: 'by-itself'; readonly value: T }
  | { readonly ended: 'interrupted' | 'timed-out' | 'unread' }

/** Exit codes for an operation that was cut short. */
export const INTERRUPTED = 130
export const TIMED_OUT = 124

/**
 * setTimeout counts in 31 bits and fires at once for a longer delay. A user who has waited for 24 days may ask again.
 */
const LONGEST_TIMEOUT: Duration = 2 ** 31 - 1

/**
 * Runs an operation that watches work. Ctrl-C, a time limit or a closed output end the watching, never the work. A
 * second Ctrl-C ends this process at once.
 */
export async function untilInterrupted<T>(
  { signals }: Pick<Screen, 'signals'>,
  limits: { timeout?: Duration | undefined; outlet?: Output },
  watch: (signal: AbortSignal) => Promise<T>,
): Promise<WatchResult<T>> {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal) // Every watched session adds a listener.
  let endReason: 'interrupted' | 'timed-out' | 'unread' | undefined
  const end = (reason: NonNullable<typeof endReason>) => () => {
    endReason ??= reason
    controller.abort()
  }
  const onInterrupt = end('interrupted')
  const onFirstInterrupt = (): void => {
    signals.off('SIGINT', onFirstInterrupt)
    onInterrupt()
  }
  const timeout = Math.min(limits.timeout ?? 0, LONGEST_TIMEOUT)
  const timer = limits.timeout === undefined ? undefined : setTimeout(end('timed-out'), timeout)
  signals.on('SIGINT', onFirstInterrupt)
  limits.outlet?.closed.addEventListener('abort', end('unread'), { once: true })
  try {
    const value = await watch(controller.signal)
    return endReason === undefined ? { ended: 'by-itself', value } : { ended: endReason }
  } catch (cause) {
    if (endReason === undefined) throw cause
    return { ended: endReason }
  } finally {
    clearTimeout(timer)
    signals.off('SIGINT', onFirstInterrupt)
  }
}

/** Delays Ctrl-C during the start until the session has a name: the user could not stop it without one. */
export async function deferInterrupt(
  { signals }: Pick<Screen, 'signals'>,
  start: () => Promise<SessionView>,
): Promise<{ session: SessionView; isInterrupted: boolean }> {
  let isInterrupted = false
  const onInterrupt = (): void => {
    isInterrupted = true
  }
  signals.on('SIGINT', onInterrupt)
  try {
    const session = await start()
    return { session, isInterrupted }
  } finally {
    signals.off('SIGINT', onInterrupt)
  }
}
