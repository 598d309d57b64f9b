import { type Notification, notificationOf } from '../../core/notify/notification.ts'
import { type Notice, maskNotice } from '../../core/notify/notice.ts'
import { findEnvSecrets } from '../../lib/mask/env-secrets.ts'
import { Mask } from '../../lib/mask/mask.ts'
import type { Duration, Instant } from '../../lib/time.ts'
import { rootReason, Trouble } from '../../lib/errors.ts'
import type { Delivery, NotificationStore } from '../../ports/notifications.ts'
import { ChannelBusy, type Notifier } from '../../ports/notifications.ts'
import { retryWrite } from '../retry.ts'
import { withTimeout } from '../retry.ts'
import type { EngineContext } from '../context.ts'

/** A channel that has not answered by then is dead for now. */
const SEND_TIMEOUT: Duration = 15_000
/** First pause after a failure; it doubles up to the longest. */
const FIRST_PAUSE: Duration = 5_000
const MAX_PAUSE: Duration = 600_000
/** What could not be told for a day is no news any more. */
export const GIVE_UP_AFTER: Duration = 86_400_000
/** More than so many in a minute no channel is sent; when more than that wait, they go in one. */
const MAX_PER_MINUTE = 20

export type NotificationContext = Pick<EngineContext, 'store' | 'runtime' | 'clock' | 'log' | 'onTrouble'> & {
  readonly notifier: Notifier
}

/** The way to one channel: one bulletin at a time, not too many, and with pauses that grow when it does not take them. */
export class ChannelQueue {
  readonly #channel: string
  readonly #context: NotificationContext
  readonly #abort: AbortSignal
  #sent: readonly Instant[] = []

  constructor(channel: string, context: NotificationContext, abortSignal: AbortSignal) {
    this.#channel = channel
    this.#context = context
    this.#abort = abortSignal
  }

  /** Tells what is due until nothing is, or the channel fails. */
  async drain(): Promise<void> {
    while (!this.#abort.aborted && (await this.#sendNext()));
  }

  send(notification: Notification): Promise<string> {
    const { clock, notifier, store } = this.#context
    store.assertEpoch()
    this.#sent = [...this.#sent.slice(1 - MAX_PER_MINUTE), clock.now()]
    const deliver = (signal: AbortSignal): Promise<string> => notifier.deliver(this.#channel, notification, signal)
    return withTimeout(deliver, {
      clock,
      limit: SEND_TIMEOUT,
      doing: `notifying ${this.#channel}`,
      ending: this.#abort,
    })
  }

  async #sendNext(): Promise<boolean> {
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
    await this.#deliver([first, ...(due.length > MAX_PER_MINUTE ? more : [])])
    return true
  }

  async #deliver(batch: readonly [Delivery, ...Delivery[]]): Promise<void> {
    const { clock } = this.#context
    const [first, ...more] = batch
    try {
      const told = ({ notice }: Delivery): Notice => maskNotice(notice, this.#sessionMask(notice))
      const remark = await this.send(notificationOf([told(first), ...more.map(told)], clock.now()))
      await this.#write(() =>
        this.#store.settleDeliveries(keysOf(batch), { at: clock.now(), state: 'delivered', remark }),
      )
    } catch (cause) {
      if (!(cause instanceof Trouble)) throw cause
      if (!this.#abort.aborted) await this.#handleFailure(batch, cause)
    }
  }

  async #handleFailure(batch: readonly Delivery[], cause: Trouble): Promise<void> {
    const at = this.#context.clock.now()
    const remark = rootReason(cause)
    const isHopeless = ({ notice }: Delivery): boolean => !cause.mayHelpToRetry || at - notice.at >= GIVE_UP_AFTER
    const hopeless = batch.filter(isHopeless)
    if (hopeless.length > 0)
      await this.#write(() => this.#store.settleDeliveries(keysOf(hopeless), { at, state: 'given-up', remark }))
    for (const { notice } of hopeless)
      this.#context.log(`oneshot gave up a notification to ${this.#channel}: ${notice.text} (${remark})`)
    const hopeful = batch.filter(delivery => !isHopeless(delivery))
    if (hopeful.length === 0) return
    const tries = Math.min(...hopeful.map(delivery => delivery.tries))
    const pause = Math.max(FIRST_PAUSE * 2 ** tries, cause instanceof ChannelBusy ? cause.wait : 0)
    const until = at + Math.min(MAX_PAUSE, pause)
    await this.#write(() => this.#store.postpone(this.#channel, until, { keys: keysOf(hopeful), at, remark }))
    if (tries === 0) this.#context.log(`${this.#channel} did not accept a notification, oneshot tries again: ${remark}`)
  }

  /** A session that was removed has left no environment to know its secrets by. */
  #sessionMask({ session }: Notice): Mask {
    try {
      return new Mask(findEnvSecrets(this.#context.runtime.readEnvironment(session.id)))
    } catch {
      return new Mask()
    }
  }

  /** What was told is not told again because a full disk keeps us from noting it. */
  #write(work: () => void): Promise<void> {
    return retryWrite(work, { ...this.#context, ending: this.#abort })
  }

  /** When something may be sent again. */
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
