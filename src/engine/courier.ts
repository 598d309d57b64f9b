import { testBulletin } from '../core/bulletin.ts'
import type { Notice } from '../core/notices.ts'
import type { Duration, Instant } from '../lib/time.ts'
import { reasonIn, wordsOf } from '../lib/trouble.ts'
import type { NoticeBox } from '../ports/notice-box.ts'
import { Superseded } from '../ports/store.ts'
import { pause, TRY_AGAIN } from './insist.ts'
import { GIVE_UP_AFTER, Lane, type Route } from './lane.ts'

/** The same sentence about the same session is told once in this time. */
const WINDOW: Duration = 60_000
/** From where on repetitions are counted. */
const LONG_AGO: Duration = 3_600_000
/** How long `notify list` can tell what became of a notice. */
const REMEMBERED: Duration = 7 * 86_400_000

export interface Trial {
  readonly channel: string
  readonly ok: boolean
  readonly remark: string
}

/**
 * Brings recorded notices to the user's channels: each channel by itself, so that a dead one keeps nobody waiting. All it
 * has to know is in the store; killed between sending and noting that, it sends once more.
 */
export class Courier {
  readonly #route: Route
  readonly #lanes = new Map<string, Lane>()
  readonly #busy = new Map<string, Promise<void>>()
  readonly #ending = new AbortController()
  #round: Promise<void> | undefined
  #isWanted = false
  #lastComplaint = ''
  #alarmAt: Instant = Number.POSITIVE_INFINITY
  #cancelAlarm: () => void = () => undefined

  constructor(route: Route) {
    this.#route = route
  }

  start(): void {
    void this.#attempted(async () => this.#box.forget(this.#route.clock.now() - REMEMBERED))
    this.wake()
  }

  /** Something may be to be told. */
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
    this.#cancelAlarm()
    this.#ending.abort()
    await Promise.all([this.#round, ...this.#busy.values()])
  }

  /** Tells a test on these channels, and what became of it on each. What waits for one that works is tried at once. */
  async test(channels: readonly string[], terminals: readonly string[]): Promise<Trial[]> {
    const { clock } = this.#route
    const bulletin = testBulletin(clock.now(), terminals)
    return Promise.all(
      channels.map(async channel => {
        try {
          const remark = await this.#laneTo(channel).send(bulletin)
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
      const isBegun = await this.#attempted(async () => this.#beginAll())
      if (!isAddressed || !isBegun) this.#ringBy(this.#route.clock.now() + TRY_AGAIN)
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
        this.#route.say(`oneshot gave up a notification after a day without a usable configuration: ${text}`)
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

  #beginAll(): void {
    const pending = this.#box.pending()
    const now = this.#route.clock.now()
    for (const { channel, due } of pending) if (due <= now && !this.#busy.has(channel)) this.#begin(channel)
    this.#cancelAlarm()
    this.#alarmAt = Number.POSITIVE_INFINITY
    for (const { channel, due } of pending) if (!this.#busy.has(channel)) this.#ringBy(due)
  }

  #begin(channel: string): void {
    const served = this.#serve(this.#laneTo(channel)).finally(() => {
      this.#busy.delete(channel)
      this.wake()
    })
    this.#busy.set(channel, served)
  }

  async #serve(lane: Lane): Promise<void> {
    const isServed = await this.#attempted(() => lane.serve())
    // The configuration cannot be understood, or the store not be read: nothing else is tried for some time.
    if (!isServed) await pause(TRY_AGAIN, { clock: this.#route.clock, ending: this.#ending.signal })
  }

  #laneTo(channel: string): Lane {
    const lane = this.#lanes.get(channel) ?? new Lane(channel, this.#route, this.#ending.signal)
    this.#lanes.set(channel, lane)
    return lane
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
  async #attempted(work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (cause) {
      const words = wordsOf(cause)
      if (words !== this.#lastComplaint || cause instanceof Superseded) this.#route.onTrouble('', cause)
      this.#lastComplaint = words
      return false
    }
  }

  get #isStopped(): boolean {
    return this.#ending.signal.aborted
  }

  get #box(): NoticeBox {
    return this.#route.store.notices
  }
}
