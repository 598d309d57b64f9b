import type { ChannelAddress } from '../../core/notify/channel.ts'
import type { Notification } from '../../core/notify/notification.ts'

/** What drivers use of this machine. */
export interface DriverContext {
  readonly env: NodeJS.ProcessEnv
  /** The terminals at which somebody looks at sessions right now. */
  readonly terminals: () => Promise<readonly string[]>
}

/** Tells a bulletin in one sort of channel, and answers how. It throws whatever went wrong; secrets are taken out later. */
export type ChannelDriver<A extends ChannelAddress> = (
  address: A,
  bulletin: Notification,
  means: DriverContext & { readonly signal: AbortSignal },
) => Promise<string>
