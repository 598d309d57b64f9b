import type { Event } from '../core/session/events.ts'
import type { HookCall, Notice, NoticeKind } from '../core/notify/notice.ts'
import type { Duration, Instant } from '../lib/time.ts'
import type { Notification } from '../core/notify/notification.ts'
import { Trouble } from '../lib/errors.ts'

/** What is to be told and run because of a step. Recorded together with it. */
export interface Outgoing {
  readonly notices: readonly Notice[]
  readonly hooks: readonly HookCall[]
}

export const NOTHING_OUTGOING: Outgoing = { notices: [], hooks: [] }

/** One notice on its way to one channel. */
export interface Delivery {
  readonly key: string
  readonly channel: string
  readonly notice: Notice
  readonly due: Instant
  /** How often it was tried in vain. */
  readonly tries: number
}

/** How a delivery came to its end. */
export type DeliveryResult = { readonly at: Instant; readonly state: 'delivered' | 'given-up'; readonly remark: string }

/**
 * Notices and hooks that were recorded and not yet dealt with. They outlive their sessions. Every writing call is one
 * transaction under the same epoch as all others of the store.
 */
export interface NotificationStore {
  /** Notices for which nobody has decided yet whom they go to, in order. */
  unrouted(): Notice[]
  /** Notices of this session from then on, in order, whatever became of them. */
  noticesSince(sessionId: string, at: Instant): Notice[]
  /** Sends a notice to these channels: once, however often it is called. None: it is dealt with. */
  route(noticeId: string, channels: readonly string[], due: Instant): void
  /** All deliveries that have not come to their end, in the order of their notices. */
  pendingDeliveries(): Delivery[]
  settleDeliveries(keys: readonly string[], delivered: DeliveryResult): void
  /** They were tried in vain; what else waits for the same channel is not tried before then either. */
  postpone(channel: string, until: Instant, failed?: { keys: readonly string[]; at: Instant; remark: string }): void
  /** Everything that waits for this channel may be tried at once. */
  retryNow(channel: string, at: Instant): void
  /** Hooks that have not been run to their end, in order. */
  pendingHooks(): HookCall[]
  /** It was run to its end: the event is part of its session's history, if that is still there. */
  settleHook(call: HookCall, event: Event): void
  /** Forgets what came to its end before then. */
  deleteBefore(before: Instant): void
}

/** A channel did not take a bulletin, and says when to come again. */
export class ChannelBusy extends Trouble {
  readonly wait: Duration

  constructor(doing: string, why: string, wait: Duration) {
    super(doing, why)
    this.wait = wait
  }
}

/** Where notices are told to people. It knows the user's configuration as it is at the moment of each call. */
export interface Notifier {
  /** Refuses when the configuration cannot be understood. */
  channels(): Promise<readonly { readonly name: string; readonly events: readonly NoticeKind[] }[]>
  /**
   * Tells it, once per call, and answers with a few words on how. Throws Trouble, without any secret in it; one that says
   * that a retry cannot help is not tried again. After a crash the same bulletin may come again, under the same id.
   */
  deliver(channel: string, notification: Notification, signal: AbortSignal): Promise<string>
}

/** Runs what the user wants run at the end of a session. */
export interface HookRunner {
  /**
   * Runs it to its end and says how that was; it never throws. Everything it needs of the session is read before this
   * returns its promise. When the signal comes, all of it is killed.
   */
  run(call: HookCall, signal: AbortSignal): Promise<{ readonly ok: boolean; readonly reason: string }>
}
