import type { ChannelAddress } from '../../core/notify/channel.ts'
import type { Notification } from '../../core/notify/notification.ts'

/** The parts of this machine that drivers use. */
export interface DriverContext {
  readonly env: NodeJS.ProcessEnv
  /** Returns the terminals that are attached to sessions now. */
  readonly terminals: () => Promise<readonly string[]>
}

/**
 * Sends a notification through one type of channel and returns a remark. It throws any error as it is; the caller
 * removes secrets.
 */
export type ChannelDriver<A extends ChannelAddress> = (
  address: A,
  bulletin: Notification,
  means: DriverContext & { readonly signal: AbortSignal },
) => Promise<string>
