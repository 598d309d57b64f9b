import { type Bulletin, bulletinOf } from '../core/bulletin.ts'
import { type Notice, withoutSecrets } from '../core/notices.ts'
import { secretsIn } from '../lib/mask/env-secrets.ts'
import { Mask } from '../lib/mask/mask.ts'
import type { Duration, Instant } from '../lib/time.ts'
import { reasonIn, Trouble } from '../lib/trouble.ts'
import type { Delivery, NoticeBox } from '../ports/notice-box.ts'
import { Busy, type Notifier } from '../ports/notifier.ts'
import { insist } from './insist.ts'
import { withLimit } from './with-limit.ts'
import type { World } from './world.ts'

/** A channel that has not answered by then is dead for now. */
const PATIENCE: Duration = 15_000
/** First pause after a failure; it doubles up to the longest. */
const FIRST_PAUSE: Duration = 5_000
const LONGEST_PAUSE: Duration = 600_000
/** What could not be told for a day is no news any more. */
export const GIVE_UP_AFTER: Duration = 86_400_000
/** More than so many in a minute no channel is sent; when more than that wait, they go in one. */
const PER_MINUTE = 20

export type Route = Pick<World, 'store' | 'work' | 'clock' | 'say' | 'onTrouble'> & { readonly notifier: Notifier }

/** The way to one channel: one bulletin at a time, not too many, and with pauses that grow when it does not take them. */
export class Lane {
  readonly #channel: string
  readonly #route: Route
  readonly #ending: AbortSignal
  #sent: readonly Instant[] = []

  constructor(channel: string, route: Route, ending: AbortSignal) {
    this.#channel = channel
    this.#route = route
    this.#ending = ending
  }

  /** Tells what is due until nothing is, or the channel fails. */
  async serve(): Promise<void> {
    while (!this.#ending.aborted && (await this.#serveNext()));
  }

  send(bulletin: Bulletin): Promise<string> {
    const { clock, notifier, store } = this.#route
    store.assertEpoch()
    this.#sent = [...this.#sent.slice(1 - PER_MINUTE), clock.now()]
    const deliver = (signal: AbortSignal): Promise<string> => notifier.deliver(this.#channel, bulletin, signal)
    return withLimit(deliver, { clock, limit: PATIENCE, doing: `notifying ${this.#channel}`, ending: this.#ending })
  }

  async #serveNext(): Promise<boolean> {
    const now = this.#route.clock.now()
    const due = this.#box.pending().filter(delivery => delivery.channel === this.#channel && delivery.due <= now)
    const [first, ...more] = due
    if (first === undefined) return false
    const free = this.#freeAt(now)
    if (free > now) {
      this.#box.postpone(this.#channel, free)
      return false
    }
    await this.#tell([first, ...(due.length > PER_MINUTE ? more : [])])
    return true
  }

  async #tell(batch: readonly [Delivery, ...Delivery[]]): Promise<void> {
    const { clock } = this.#route
    const [first, ...more] = batch
    try {
      const told = ({ notice }: Delivery): Notice => withoutSecrets(notice, this.#maskOf(notice))
      const remark = await this.send(bulletinOf([told(first), ...more.map(told)], clock.now()))
      await this.#note(() => this.#box.settleDeliveries(keysOf(batch), { at: clock.now(), state: 'delivered', remark }))
    } catch (cause) {
      if (!(cause instanceof Trouble)) throw cause
      if (!this.#ending.aborted) await this.#afterFailure(batch, cause)
    }
  }

  async #afterFailure(batch: readonly Delivery[], cause: Trouble): Promise<void> {
    const at = this.#route.clock.now()
    const remark = reasonIn(cause)
    const isHopeless = ({ notice }: Delivery): boolean => !cause.mayHelpToRetry || at - notice.at >= GIVE_UP_AFTER
    const hopeless = batch.filter(isHopeless)
    if (hopeless.length > 0)
      await this.#note(() => this.#box.settleDeliveries(keysOf(hopeless), { at, state: 'given-up', remark }))
    for (const { notice } of hopeless)
      this.#route.say(`oneshot gave up a notification to ${this.#channel}: ${notice.text} (${remark})`)
    const hopeful = batch.filter(delivery => !isHopeless(delivery))
    if (hopeful.length === 0) return
    const tries = Math.min(...hopeful.map(delivery => delivery.tries))
    const pause = Math.max(FIRST_PAUSE * 2 ** tries, cause instanceof Busy ? cause.wait : 0)
    const until = at + Math.min(LONGEST_PAUSE, pause)
    await this.#note(() => this.#box.postpone(this.#channel, until, { keys: keysOf(hopeful), at, remark }))
    if (tries === 0) this.#route.say(`${this.#channel} did not accept a notification, oneshot tries again: ${remark}`)
  }

  /** A session that was removed has left no environment to know its secrets by. */
  #maskOf({ session }: Notice): Mask {
    try {
      return new Mask(secretsIn(this.#route.work.environment(session.id)))
    } catch {
      return new Mask()
    }
  }

  /** What was told is not told again because a full disk keeps us from noting it. */
  #note(work: () => void): Promise<void> {
    return insist(work, { ...this.#route, ending: this.#ending })
  }

  /** When something may be sent again. */
  #freeAt(now: Instant): Instant {
    const recent = this.#sent.filter(at => at > now - 60_000)
    return recent.length < PER_MINUTE ? now : (recent[0] as Instant) + 60_000
  }

  get #box(): NoticeBox {
    return this.#route.store.notices
  }
}

function keysOf(batch: readonly Delivery[]): string[] {
  return batch.map(({ key }) => key)
}
