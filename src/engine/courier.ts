import { bulletinOf, testBulletin } from '../core/bulletin.ts'
import type { Notice } from '../core/notices.ts'
import type { Duration, Instant } from '../lib/time.ts'
import { reasonIn, Trouble, wordsOf } from '../lib/trouble.ts'
import type { Delivery, NoticeBox } from '../ports/notice-box.ts'
import { Busy, type Notifier } from '../ports/notifier.ts'
import { Superseded } from '../ports/store.ts'
import { withLimit } from './with-limit.ts'
import type { World } from './world.ts'

/** A channel that has not answered by then is dead for now. */
const PATIENCE: Duration = 15_000
/** First pause after a failure; it doubles up to the longest. */
const FIRST_PAUSE: Duration = 5_000
const LONGEST_PAUSE: Duration = 600_000
/** What could not be told for a day is no news any more. */
const GIVE_UP_AFTER: Duration = 86_400_000
/** The same sentence about the same session is told once in this time. */
const WINDOW: Duration = 60_000
/** From where on repetitions are counted. */
const LONG_AGO: Duration = 3_600_000
/** More than so many in a minute no channel is sent; when more than that wait, they go in one. */
const PER_MINUTE = 20
/** How long `notify list` can tell what became of a notice. */
const REMEMBERED: Duration = 7 * 86_400_000
/** A configuration that cannot be understood, or a disk that is full, is tried again after this. */
const TRY_AGAIN: Duration = 30_000

type Route = Pick<World, 'store' | 'clock' | 'say' | 'onTrouble'> & { readonly notifier: Notifier }

export interface Trial {
  readonly channel: string
  readonly ok: boolean
  readonly remark: string
}

/**
 * Brings recorded notices to the user's channels: each channel by itself and one at a time, so that a dead one keeps
 * nobody waiting. All it has to know is in the store; killed between sending and noting that, it sends once more.
 */
export class Courier {
  readonly #route: Route
  readonly #lanes = new Map<string, Promise<void>>()
  readonly #sent = new Map<string, Instant[]>()
  #round: Promise<void> | undefined
  #isWanted = false
  #isStopped = false
  #lastComplaint = ''
  #alarmAt: Instant = Number.POSITIVE_INFINITY
  #cancelAlarm: () => void = () => undefined
  readonly #ending = new AbortController()

  constructor(route: Route) {
    this.#route = route
  }

  start(): void {
    void this.#attempted(async () => this.#box.forget(this.#route.clock.now() - REMEMBERED))
    this.wake()
  }

  /** Something may be to be told. Costs nothing when nothing is. */
  wake(): void {
    this.#isWanted = true
    if (this.#isStopped || this.#round !== undefined) return
    this.#round = this.#goRound().finally(() => {
      this.#round = undefined
      if (this.#isWanted) this.wake()
    })
  }

  /** Nothing new is begun, and what is under way is broken off: it stays pending. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelAlarm()
    this.#ending.abort()
    await Promise.all([this.#round, ...this.#lanes.values()])
  }

  /** Tells a test on these channels, and what became of it on each. What waits for one that works is tried at once. */
  async test(channels: readonly string[], terminals: readonly string[]): Promise<Trial[]> {
    const { clock } = this.#route
    const bulletin = testBulletin(clock.now(), terminals)
    return Promise.all(
      channels.map(async channel => {
        try {
          const remark = await this.#send(channel, bulletin)
          await this.#attempted(async () => this.#box.hurry(channel, clock.now()))
          this.wake()
          return { channel, ok: true, remark }
        } catch (cause) {
          return { channel, ok: false, remark: reasonIn(cause) }
        }
      }),
    )
  }

  async #goRound(): Promise<void> {
    while (this.#isWanted && !this.#isStopped) {
      this.#isWanted = false
      const isAddressed = await this.#attempted(() => this.#addressAll())
      const isStarted = await this.#attempted(() => this.#startLanes())
      if (!isAddressed || !isStarted) this.#ringBy(this.#route.clock.now() + TRY_AGAIN)
      else this.#lastComplaint = ''
    }
  }

  async #addressAll(): Promise<void> {
    const fresh = this.#box.unaddressed()
    if (fresh.length === 0) return
    const { clock, notifier } = this.#route
    const channels = await this.#understood(() => notifier.channels(), fresh)
    for (const notice of fresh) {
      const wanted = channels.filter(({ events }) => events.includes(notice.kind)).map(({ name }) => name)
      this.#box.address(notice.id, this.#isRepetition(notice) ? [] : wanted, clock.now())
    }
  }

  /** What nobody could address for a day goes to nobody, aloud. */
  async #understood<T>(ask: () => Promise<readonly T[]>, fresh: readonly Notice[]): Promise<readonly T[]> {
    try {
      return await ask()
    } catch (cause) {
      const now = this.#route.clock.now()
      for (const { id, text, at } of fresh) {
        if (now - at < GIVE_UP_AFTER) continue
        this.#route.say(`notice given up after a day without a usable configuration: ${text}`)
        this.#box.address(id, [], now)
      }
      throw cause
    }
  }

  /** Told again is only what comes when the window of the last telling is over. */
  #isRepetition({ id, kind, text, at, session }: Notice): boolean {
    const alike = this.#box
      .since(session.id, at - LONG_AGO)
      .filter(other => other.kind === kind && other.text === text && other.at <= at)
    let told: Notice | undefined
    for (const other of alike) if (told === undefined || other.at - told.at >= WINDOW) told = other
    return told?.id !== id
  }

  async #startLanes(): Promise<void> {
    const pending = this.#box.pending()
    const now = this.#route.clock.now()
    for (const channel of new Set(pending.filter(({ due }) => due <= now).map(delivery => delivery.channel))) {
      if (this.#lanes.has(channel)) continue
      const lane = this.#serve(channel).finally(() => {
        this.#lanes.delete(channel)
        this.wake()
      })
      this.#lanes.set(channel, lane)
    }
    this.#cancelAlarm()
    this.#alarmAt = Number.POSITIVE_INFINITY
    for (const { due, channel } of pending) if (!this.#lanes.has(channel)) this.#ringBy(due)
  }

  async #serve(channel: string): Promise<void> {
    const { clock } = this.#route
    const isServed = await this.#attempted(async () => {
      while (!this.#isStopped && (await this.#serveNext(channel)));
    })
    if (isServed || this.#isStopped) return
    // The configuration cannot be understood, or the store not be written: nothing else is tried for some time.
    await new Promise<void>(resolve => {
      const cancel = clock.ring(clock.now() + TRY_AGAIN, resolve)
      this.#ending.signal.addEventListener('abort', () => {
        cancel()
        resolve()
      })
    })
  }

  /** False when nothing more is to be done on this channel for now. */
  async #serveNext(channel: string): Promise<boolean> {
    const { clock } = this.#route
    const now = clock.now()
    const due = this.#box.pending().filter(delivery => delivery.channel === channel && delivery.due <= now)
    const [first] = due
    if (first === undefined) return false
    const free = this.#freeAt(channel, now)
    if (free > now) {
      this.#box.postpone([], channel, free, '')
      return false
    }
    const batch: [Delivery, ...Delivery[]] = due.length > PER_MINUTE ? [first, ...due.slice(1)] : [first]
    const keys = batch.map(({ key }) => key)
    try {
      const [one, ...more] = batch
      const bulletin = bulletinOf([one.notice, ...more.map(({ notice }) => notice)], now)
      const remark = await this.#send(channel, bulletin)
      this.#box.settleDeliveries(keys, { at: clock.now(), state: 'delivered', remark })
    } catch (cause) {
      if (!(cause instanceof Trouble)) throw cause
      if (!this.#isStopped) this.#afterFailure(channel, batch, cause)
    }
    return true
  }

  #afterFailure(channel: string, batch: readonly Delivery[], cause: Trouble): void {
    const now = this.#route.clock.now()
    const remark = reasonIn(cause)
    const isHopeless = ({ notice }: Delivery): boolean => !cause.mayHelpToRetry || now - notice.at >= GIVE_UP_AFTER
    const hopeless = batch.filter(isHopeless)
    const keys = hopeless.map(({ key }) => key)
    if (keys.length > 0) this.#box.settleDeliveries(keys, { at: now, state: 'given-up', remark })
    for (const { notice } of hopeless) this.#route.say(`notice given up on ${channel}: ${notice.text} (${remark})`)
    const hopeful = batch.filter(delivery => !isHopeless(delivery))
    if (hopeful.length === 0) return
    const tries = Math.min(...hopeful.map(delivery => delivery.tries))
    const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** tries)
    const until = now + Math.max(pause, cause instanceof Busy ? Math.min(cause.wait, LONGEST_PAUSE) : 0)
    this.#box.postpone(
      hopeful.map(({ key }) => key),
      channel,
      until,
      remark,
    )
    if (tries === 0) this.#route.say(`${channel} did not take a notice, which is tried again: ${remark}`)
  }

  #send(channel: string, bulletin: Parameters<Notifier['deliver']>[1]): Promise<string> {
    const { clock, notifier, store } = this.#route
    store.assertEpoch()
    const sent = this.#sent.get(channel) ?? []
    this.#sent.set(channel, [...sent.slice(1 - PER_MINUTE), clock.now()])
    const send = (signal: AbortSignal): Promise<string> => notifier.deliver(channel, bulletin, signal)
    return withLimit(send, { clock, limit: PATIENCE, doing: `telling ${channel}`, ending: this.#ending.signal })
  }

  /** When this channel may be sent something again. */
  #freeAt(channel: string, now: Instant): Instant {
    const recent = (this.#sent.get(channel) ?? []).filter(at => at > now - 60_000)
    return recent.length < PER_MINUTE ? now : (recent[0] as Instant) + 60_000
  }

  /** Goes round again at that time, or before. */
  #ringBy(at: Instant): void {
    if (this.#isStopped || at >= this.#alarmAt) return
    this.#cancelAlarm()
    this.#alarmAt = at
    this.#cancelAlarm = this.#route.clock.ring(at, () => {
      this.#alarmAt = Number.POSITIVE_INFINITY
      this.wake()
    })
  }

  /** Says each sort of trouble once, not at every try. */
  #complain(cause: unknown): void {
    const words = wordsOf(cause)
    if (words === this.#lastComplaint && !(cause instanceof Superseded)) return
    this.#lastComplaint = words
    this.#route.onTrouble('', cause)
  }

  async #attempted(work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (cause) {
      this.#complain(cause)
      return false
    }
  }

  get #box(): NoticeBox {
    return this.#route.store.notices
  }
}
