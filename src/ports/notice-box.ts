import type { Event } from '../core/events.ts'
import type { HookCall } from '../core/hooks.ts'
import type { Notice } from '../core/notices.ts'
import type { Instant } from '../lib/time.ts'

/** What is to be told and run because of a step. Recorded together with it. */
export interface Tidings {
  readonly notices: readonly Notice[]
  readonly hooks: readonly HookCall[]
}

export const NO_TIDINGS: Tidings = { notices: [], hooks: [] }

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
export type Delivered = { readonly at: Instant; readonly state: 'delivered' | 'given-up'; readonly remark: string }

/**
 * Notices and hooks that were recorded and not yet dealt with. They outlive their sessions. Every writing call is one
 * transaction under the same epoch as all others of the store.
 */
export interface NoticeBox {
  /** Notices for which nobody has decided yet whom they go to, in order. */
  unaddressed(): Notice[]
  /** Notices of this session from then on, in order, whatever became of them. */
  since(sessionId: string, at: Instant): Notice[]
  /** Sends a notice to these channels: once, however often it is called. None: it is dealt with. */
  address(noticeId: string, channels: readonly string[], due: Instant): void
  /** All deliveries that have not come to their end, in the order of their notices. */
  pending(): Delivery[]
  settleDeliveries(keys: readonly string[], delivered: Delivered): void
  /** They were tried in vain; what else waits for the same channel is not tried before then either. */
  postpone(channel: string, until: Instant, failed?: { keys: readonly string[]; at: Instant; remark: string }): void
  /** Everything that waits for this channel may be tried at once. */
  hurry(channel: string, at: Instant): void
  /** Hooks that have not been run to their end, in order. */
  hooks(): HookCall[]
  /** It was run to its end: the event is part of its session's history, if that is still there. */
  settleHook(call: HookCall, event: Event): void
  /** Forgets what came to its end before then. */
  forget(before: Instant): void
}
