import type { Event } from '../core/session/events.ts'
import type { HookCall, Notice, NoticeKind } from '../core/notify/notice.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import type { Duration, Instant } from '../lib/time.ts'
import type { Notification } from '../core/notify/notification.ts'
import { Trouble } from '../lib/errors.ts'

/** The notices and hooks that a step causes. The store records them in the same transaction as the step. */
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
  /** The number of failed tries. */
  readonly tries: number
}

/** The final result of a delivery. */
export type DeliveryResult = { readonly at: Instant; readonly state: 'delivered' | 'given-up'; readonly remark: string }

/**
 * The notices and hooks that are recorded and not yet settled. They outlive their sessions. Every writing call is one
 * transaction under the same epoch as all others of the store.
 */
export interface NotificationStore {
  /** Returns the notices that have no channels assigned yet, in order. */
  unrouted(): Notice[]
  /** Returns all notices of this session since `at`, in order, whatever their state. */
  noticesSince(sessionId: SessionId, at: Instant): Notice[]
  /** Assigns a notice to these channels. Repeated calls assign it once. An empty list settles the notice. */
  route(noticeId: string, channels: readonly string[], due: Instant): void
  /** Returns all unsettled deliveries, in the order of their notices. */
  pendingDeliveries(): Delivery[]
  settleDeliveries(keys: readonly string[], delivered: DeliveryResult): void
  /** Records that these deliveries failed, and delays all deliveries for the same channel until then. */
  postpone(channel: string, until: Instant, failed?: { keys: readonly string[]; at: Instant; remark: string }): void
  /** Allows an immediate try of all deliveries that wait for this channel. */
  retryNow(channel: string, at: Instant): void
  /** Returns the hooks that have not run to their end, in order. */
  pendingHooks(): HookCall[]
  /** Records that a hook ran to its end, and adds the event to its session's history if the session still exists. */
  settleHook(call: HookCall, event: Event): void
  /** Deletes all notices and hooks that the store settled before then. */
  deleteBefore(before: Instant): void
}

/** A channel did not accept a notification and says when to try again. */
export class ChannelBusy extends Trouble {
  readonly wait: Duration

  constructor(doing: string, why: string, wait: Duration) {
    super(doing, why)
    this.wait = wait
  }
}

/** Sends notifications to people. Each call reads the user's current configuration. */
export interface Notifier {
  /** Returns the configured channels. Throws a refusal if the configuration is invalid. */
  channels(): Promise<readonly { readonly name: string; readonly events: readonly NoticeKind[] }[]>
  /**
   * Sends a notification once per call and returns a few words about the result. Throws `Trouble` without any secret in
   * it; the caller does not retry if the error says that a retry cannot help. After a crash the caller may send the
   * same notification again, under the same id.
   */
  deliver(channel: string, notification: Notification, signal: AbortSignal): Promise<string>
}

/** Runs the user's program at the end of a session. */
export interface HookRunner {
  /**
   * Runs the hook to its end and returns the result; never throws. Reads everything it needs of the session before it
   * returns its promise. The abort signal makes it kill all processes of the hook.
   */
  run(call: HookCall, signal: AbortSignal): Promise<{ readonly ok: boolean; readonly reason: string }>
}
