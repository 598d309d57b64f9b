import type { BootOrder } from './boot-order.ts'

export const MECHANISMS = ['systemd', 'launchd', 'cron'] as const
export type MechanismName = (typeof MECHANISMS)[number]

/** What is in place, as it was found. */
export interface Installed {
  /** A file, or whose crontab. */
  readonly where: string
  readonly text: string
  /** Undefined when a person has rewritten it beyond our understanding. */
  readonly order: BootOrder | undefined
  /** Whether it is also switched on; a unit may be there and disabled. */
  readonly isEnabled: boolean
}

/** A way of being started with the machine. Each deed may be repeated; none of them ends an agent. */
export interface Mechanism {
  readonly name: MechanismName
  /** Where it is written down. */
  readonly where: string
  /** Why it cannot be used here; undefined when it can. */
  readonly obstacle: () => Promise<string | undefined>
  /** Throws trouble when it cannot be told, as when crontab fails. */
  readonly find: () => Promise<Installed | undefined>
  /** The text that install would write. */
  readonly render: (order: BootOrder) => string
  /** Writes it down for the next boot, in place of what was there. What runs is not disturbed. */
  readonly install: (order: BootOrder) => Promise<void>
  /** Starts the supervisor in this way at once; absent where only a boot does. */
  readonly start?: () => Promise<void>
  /** Takes it away. A supervisor that lived by it may have to be started again in another way: that is the answer. */
  readonly remove: () => Promise<{ readonly hasStopped: boolean }>
}
