import { testNotification } from '../../core/notify/notification.ts'
import type { Notice } from '../../core/notify/notice.ts'
import type { Duration, Instant } from '../../lib/time.ts'
import { rootReason, errorMessage } from '../../lib/errors.ts'
import type { NotificationStore } from '../../ports/notifications.ts'
import { Superseded } from '../../ports/store.ts'
import { sleep } from '../../lib/timeout.ts'
import { FULL_DISK_RETRY } from '../retry-write.ts'
import { GIVE_UP_AFTER, ChannelQueue, type NotificationContext } from './channel-queue.ts'

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
  readonly #queues = new Map<string, ChannelQueue>()
  readonly #busy = new Map<string, Promise<void>>()
  readonly #abort = new AbortController()
  #currentPass: Promise<void> | undefined
  #isWanted = false
  #lastError = ''
  #wakeAt: Instant = Number.POSITIVE_INFINITY
  #cancelWake: () => void = () => undefined

  constructor(context: NotificationContext) {
    this.#context = context
  }

  start(): void {
    void this.#reportErrors(async () => this.#store.deleteBefore(this.#context.clock.now() - RETENTION))
    this.wake()
  }

  /** Starts a pass over the recorded notices. */
  wake(): void {
    this.#isWanted = true
    if (this.#isStopped || this.#currentPass !== undefined) return
    this.#currentPass = this.#runPasses().finally(() => {
      this.#currentPass = undefined
      if (this.#isWanted) this.wake()
    })
  }

  /** Begins nothing new, and aborts running deliveries; they stay pending. */
  async stop(): Promise<void> {
    this.#cancelWake()
    this.#abort.abort()
    await Promise.all([this.#currentPass, ...this.#busy.values()])
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
          const remark = await this.#queueFor(channel).send(notification)
          await this.#reportErrors(async () => this.#store.retryNow(channel, clock.now()))
          this.wake()
          return { channel, ok: true, remark }
        } catch (cause) {
          return { channel, ok: false, remark: rootReason(cause) }
        }
      }),
    )
  }

  async #runPasses(): Promise<void> {
    while (this.#isWanted && !this.#isStopped) {
      this.#isWanted = false
      const isAddressed = await this.#reportErrors(() => this.#routeAll())
      const isBegun = await this.#reportErrors(async () => this.#startAll())
      if (!isAddressed || !isBegun) this.#wakeBy(this.#context.clock.now() + FULL_DISK_RETRY.firstPause)
      else this.#lastError = ''
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

  #startAll(): void {
    const pending = this.#store.pendingDeliveries()
    const now = this.#context.clock.now()
    for (const { channel, due } of pending) if (due <= now && !this.#busy.has(channel)) this.#startQueue(channel)
    this.#cancelWake()
    this.#wakeAt = Number.POSITIVE_INFINITY
    for (const { channel, due } of pending) if (!this.#busy.has(channel)) this.#wakeBy(due)
  }

  #startQueue(channel: string): void {
    const served = this.#drainQueue(this.#queueFor(channel)).finally(() => {
      this.#busy.delete(channel)
      this.wake()
    })
    this.#busy.set(channel, served)
  }

  async #drainQueue(queue: ChannelQueue): Promise<void> {
    const isServed = await this.#reportErrors(() => queue.drain())
    // The configuration is invalid or the store unreadable: the channel pauses before the next try.
    if (!isServed) await sleep(FULL_DISK_RETRY.firstPause, { clock: this.#context.clock, signal: this.#abort.signal })
  }

  #queueFor(channel: string): ChannelQueue {
    const queue = this.#queues.get(channel) ?? new ChannelQueue(channel, this.#context, this.#abort.signal)
    this.#queues.set(channel, queue)
    return queue
  }

  /** Schedules the next pass at this time, unless an earlier one is scheduled. */
  #wakeBy(at: Instant): void {
    if (this.#isStopped || at >= this.#wakeAt) return
    this.#cancelWake()
    this.#wakeAt = at
    this.#cancelWake = this.#context.clock.schedule(at, () => {
      this.#wakeAt = Number.POSITIVE_INFINITY
      this.wake()
    })
  }

  /** Reports repeated equal errors once, not at every try. */
  async #reportErrors(work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (cause) {
      const message = errorMessage(cause)
      if (message !== this.#lastError || cause instanceof Superseded) this.#context.onTrouble('', cause)
      this.#lastError = message
      return false
    }
  }

  get #isStopped(): boolean {
    return this.#abort.signal.aborted
  }

  get #store(): NotificationStore {
    return this.#context.store.notifications
  }
}
