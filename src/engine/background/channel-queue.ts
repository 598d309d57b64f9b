import { type Notification, notificationOf } from '../../core/notify/notification.ts'
import { type Notice, maskNotice } from '../../core/notify/notice.ts'
import { findEnvSecrets } from '../../lib/mask/env-secrets.ts'
import { Mask } from '../../lib/mask/mask.ts'
import { type RetryPolicy, pauseAfter } from '../../lib/retry-policy.ts'
import type { Duration, Instant } from '../../lib/time.ts'
import { withTimeout } from '../../lib/timeout.ts'
import { rootReason, Trouble } from '../../lib/errors.ts'
import type { Delivery, NotificationStore } from '../../ports/notifications.ts'
import { ChannelBusy, type Notifier } from '../../ports/notifications.ts'
import { retryWrite } from '../retry-write.ts'
import type { EngineContext } from '../context.ts'

/** Milliseconds. A channel that has not answered within this time counts as unavailable. */
const SEND_TIMEOUT: Duration = 15_000
/** Milliseconds. */
const MAX_PAUSE: Duration = 600_000
/** Milliseconds. After a day, an undelivered notification is no longer news. */
export const GIVE_UP_AFTER: Duration = 86_400_000
/** Notifications that one channel receives per minute. If more are due, the queue sends them in one. */
const MAX_PER_MINUTE = 20

export type NotificationContext = Pick<
  EngineContext,
  'store' | 'runtime' | 'clock' | 'timings' | 'log' | 'onTrouble'
> & {
  readonly notifier: Notifier
}

/**
 * Sends the notifications of one channel: one at a time, within the rate limit, and with growing pauses after failures.
 */
export class ChannelQueue {
  readonly #channel: string
  readonly #context: NotificationContext
  #sent: readonly Instant[] = []

  constructor(channel: string, context: NotificationContext) {
    this.#channel = channel
    this.#context = context
  }

  /** Sends due notifications until none is left or the channel fails. */
  async drain(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await this.#sendNext(signal)));
  }

  send(notification: Notification, signal: AbortSignal): Promise<string> {
    const { clock, notifier, store } = this.#context
    store.assertEpoch()
    this.#sent = [...this.#sent.slice(1 - MAX_PER_MINUTE), clock.now()]
    const deliver = (end: AbortSignal): Promise<string> => notifier.deliver(this.#channel, notification, end)
    return withTimeout(deliver, { clock, limit: SEND_TIMEOUT, doing: `notifying ${this.#channel}`, signal })
  }

  async #sendNext(signal: AbortSignal): Promise<boolean> {
    const now = this.#context.clock.now()
    const due = this.#store
      .pendingDeliveries()
      .filter(delivery => delivery.channel === this.#channel && delivery.due <= now)
    const [first, ...more] = due
    if (first === undefined) return false
    const free = this.#nextSlotAt(now)
    if (free > now) {
      this.#store.postpone(this.#channel, free)
      return false
    }
    await this.#deliver([first, ...(due.length > MAX_PER_MINUTE ? more : [])], signal)
    return true
  }

  async #deliver(batch: readonly [Delivery, ...Delivery[]], signal: AbortSignal): Promise<void> {
    const { clock } = this.#context
    const [first, ...more] = batch
    try {
      const masked = ({ notice }: Delivery): Notice => maskNotice(notice, this.#sessionMask(notice))
      const remark = await this.send(notificationOf([masked(first), ...more.map(masked)], clock.now()), signal)
      await this.#write(
        () => this.#store.settleDeliveries(keysOf(batch), { at: clock.now(), state: 'delivered', remark }),
        signal,
      )
    } catch (cause) {
      if (!(cause instanceof Trouble)) throw cause
      if (!signal.aborted) await this.#handleFailure(batch, cause, signal)
    }
  }

  async #handleFailure(batch: readonly Delivery[], cause: Trouble, signal: AbortSignal): Promise<void> {
    const at = this.#context.clock.now()
    const remark = rootReason(cause)
    const isHopeless = ({ notice }: Delivery): boolean => !cause.mayHelpToRetry || at - notice.at >= GIVE_UP_AFTER
    const hopeless = batch.filter(isHopeless)
    if (hopeless.length > 0)
      await this.#write(() => this.#store.settleDeliveries(keysOf(hopeless), { at, state: 'given-up', remark }), signal)
    for (const { notice } of hopeless)
      this.#context.log(`oneshot gave up a notification to ${this.#channel}: ${notice.text} (${remark})`)
    const hopeful = batch.filter(delivery => !isHopeless(delivery))
    if (hopeful.length === 0) return
    const tries = Math.min(...hopeful.map(delivery => delivery.tries))
    const policy: RetryPolicy = { firstPause: this.#context.timings.channelPause, maxPause: MAX_PAUSE }
    const pause = Math.max(pauseAfter(policy, tries + 1), cause instanceof ChannelBusy ? cause.wait : 0)
    const until = at + Math.min(MAX_PAUSE, pause)
    await this.#write(() => this.#store.postpone(this.#channel, until, { keys: keysOf(hopeful), at, remark }), signal)
    if (tries === 0) this.#context.log(`${this.#channel} did not accept a notification, oneshot tries again: ${remark}`)
  }

  /** Masks the secrets of the session's environment. A removed session has no environment left. */
  #sessionMask({ session }: Notice): Mask {
    try {
      return new Mask(findEnvSecrets(this.#context.runtime.readEnvironment(session.id)))
    } catch {
      return new Mask()
    }
  }

  /** Repeats the write until it succeeds, so that a full disk does not cause a second delivery. */
  #write(work: () => void, signal: AbortSignal): Promise<void> {
    return retryWrite(work, { ...this.#context, signal })
  }

  /** Returns the earliest time at which the rate limit allows the next notification. */
  #nextSlotAt(now: Instant): Instant {
    const recent = this.#sent.filter(at => at > now - 60_000)
    return recent.length < MAX_PER_MINUTE ? now : (recent[0] as Instant) + 60_000
  }

  get #store(): NotificationStore {
    return this.#context.store.notifications
  }
}

function keysOf(batch: readonly Delivery[]): string[] {
  return batch.map(({ key }) => key)
}
