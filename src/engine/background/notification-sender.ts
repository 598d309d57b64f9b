import { testNotification } from '../../core/notify/notification.ts'
import type { Notice } from '../../core/notify/notice.ts'
import type { Job } from '../../lib/keyed-jobs.ts'
import { fixedPause, type RetryPolicy } from '../../lib/retry-policy.ts'
import type { Duration } from '../../lib/time.ts'
import { rootReason, errorMessage } from '../../lib/errors.ts'
import type { Delivery, NotificationStore } from '../../ports/notifications.ts'
import { Superseded } from '../../ports/store.ts'
import { GIVE_UP_AFTER, ChannelQueue, type NotificationContext } from './channel-queue.ts'
import { Reconciler } from './reconciler.ts'

/** Milliseconds within which the sender sends the same sentence about the same session only once. */
const REPETITION_WINDOW: Duration = 60_000
/** Milliseconds before a notice within which the sender looks for repetitions. */
const REPETITION_LOOKBACK: Duration = 3_600_000
/** Milliseconds for which `notify list` can show the fate of a notice. */
const RETENTION: Duration = 7 * 86_400_000

export interface ChannelTestResult {
  readonly channel: string
  readonly ok: boolean
  readonly remark: string
}

/**
 * Sends recorded notices to the user's channels. Each channel has its own queue, so that an unavailable channel delays
 * no other. The store holds the whole state; if a supervisor dies between a delivery and its record, the next one sends
 * the notification again.
 */
export class NotificationSender {
  readonly #context: NotificationContext
  readonly #retry: RetryPolicy
  readonly #queues = new Map<string, ChannelQueue>()
  readonly #reconciler: Reconciler<NotificationStore, string>
  #lastError = ''

  constructor(context: NotificationContext) {
    this.#context = context
    this.#retry = fixedPause(context.timings.servicePause)
    this.#reconciler = new Reconciler(
      { ...context, onTrouble: (_, cause) => this.#reportError(cause) },
      { find: () => this.#store, wanted: store => this.#wanted(store) },
    )
  }

  start(): void {
    this.#tryToWrite(() => this.#store.deleteBefore(this.#context.clock.now() - RETENTION))
    this.wake()
  }

  /** Starts to route and send the recorded notices that are due. */
  wake(): void {
    this.#reconciler.update('')
  }

  /** Begins nothing new, and aborts running deliveries; they stay pending. */
  stop(): Promise<void> {
    return this.#reconciler.stop()
  }

  /**
   * Sends a test notification on these channels and returns each result. If a channel works, its waiting notifications
   * are due at once.
   */
  async testChannels(channels: readonly string[], terminals: readonly string[]): Promise<ChannelTestResult[]> {
    const { clock } = this.#context
    const notification = testNotification(clock.now(), terminals)
    return Promise.all(
      channels.map(async channel => {
        try {
          const remark = await this.#queueFor(channel).send(notification, this.#reconciler.stopping)
          this.#tryToWrite(() => this.#store.retryNow(channel, clock.now()))
          this.wake()
          return { channel, ok: true, remark }
        } catch (cause) {
          return { channel, ok: false, remark: rootReason(cause) }
        }
      }),
    )
  }

  #wanted(store: NotificationStore): Job[] {
    const last = store.unrouted().at(-1)
    const routing: Job = { key: 'route', retry: this.#retry, run: () => this.#routeAll() }
    const pending = store.pendingDeliveries()
    const channels = [...new Set(pending.map(({ channel }) => channel))]
    return [
      ...(last === undefined ? [] : [{ ...routing, revision: last.id }]),
      ...channels.map(channel =>
        this.#channelJob(
          channel,
          pending.filter(delivery => delivery.channel === channel),
        ),
      ),
    ]
  }

  #channelJob(channel: string, deliveries: readonly Delivery[]): Job {
    return {
      key: `channel ${channel}`,
      dueAt: Math.min(...deliveries.map(({ due }) => due)),
      revision: deliveries[0]?.key ?? '',
      retry: this.#retry,
      run: async signal => {
        await this.#queueFor(channel).drain(signal)
        this.#lastError = ''
      },
    }
  }

  async #routeAll(): Promise<void> {
    const fresh = this.#store.unrouted()
    if (fresh.length === 0) return
    const { clock, notifier } = this.#context
    const channels = await this.#readChannels(() => notifier.channels(), fresh)
    for (const notice of fresh) {
      const wanted = channels.filter(({ events }) => events.includes(notice.kind)).map(({ name }) => name)
      this.#store.route(notice.id, this.#isRepetition(notice) ? [] : wanted, clock.now())
    }
    this.#lastError = ''
  }

  /** Returns the channels. While the configuration is invalid, drops notices older than a day and logs each of them. */
  async #readChannels<T>(ask: () => Promise<readonly T[]>, fresh: readonly Notice[]): Promise<readonly T[]> {
    try {
      return await ask()
    } catch (cause) {
      const now = this.#context.clock.now()
      for (const { id, text, at } of fresh) {
        if (now - at < GIVE_UP_AFTER) continue
        this.#context.log(`oneshot gave up a notification after a day without a usable configuration: ${text}`)
        this.#store.route(id, [], now)
      }
      throw cause
    }
  }

  /** Returns true when the sender has sent the same sentence within the repetition window. */
  #isRepetition({ id, kind, text, at, session }: Notice): boolean {
    const alike = this.#store
      .noticesSince(session.id, at - REPETITION_LOOKBACK)
      .filter(other => other.kind === kind && other.text === text && other.at <= at)
    let sent: Notice | undefined
    for (const other of alike) if (sent === undefined || other.at - sent.at >= REPETITION_WINDOW) sent = other
    return sent?.id !== id
  }

  #queueFor(channel: string): ChannelQueue {
    const queue = this.#queues.get(channel) ?? new ChannelQueue(channel, this.#context)
    this.#queues.set(channel, queue)
    return queue
  }

  #tryToWrite(write: () => void): void {
    try {
      write()
    } catch (cause) {
      this.#reportError(cause)
    }
  }

  /** Reports repeated equal errors once, not at every try. */
  #reportError(cause: unknown): void {
    const message = errorMessage(cause)
    if (message !== this.#lastError || cause instanceof Superseded) this.#context.onTrouble('', cause)
    this.#lastError = message
  }

  get #store(): NotificationStore {
    return this.#context.store.notifications
  }
}
