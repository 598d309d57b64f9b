import type { Address } from '../../core/channels.ts'
import type { Bulletin } from '../../core/bulletin.ts'

/** What drivers use of this machine. */
export interface Means {
  readonly env: NodeJS.ProcessEnv
  /** The terminals at which somebody looks at sessions right now. */
  readonly terminals: () => Promise<readonly string[]>
}

/** Tells a bulletin in one sort of channel, and answers how. It throws whatever went wrong; secrets are taken out later. */
export type Driver<A extends Address> = (
  address: A,
  bulletin: Bulletin,
  means: Means & { readonly signal: AbortSignal },
) => Promise<string>
