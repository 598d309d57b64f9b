import type { Address } from '../../core/channels.ts'
import type { NoticeKind } from '../../core/notice-kinds.ts'
import { conceal, Secret } from '../../lib/secret.ts'
import { reasonIn, Trouble } from '../../lib/trouble.ts'
import { Busy, type Notifier } from '../../ports/notifier.ts'
import type { Driver, Means } from './driver.ts'

/** A channel of the user's; its secrets are looked up when it is used. */
export interface Listing {
  readonly name: string
  readonly events: readonly NoticeKind[]
  readonly address: () => Address
}

/** Loaded when one is wanted: TLS alone is a megabyte that a supervisor without channels does without. */
const DRIVERS: { readonly [T in Address['type']]: () => Promise<Driver<Extract<Address, { type: T }>>> } = {
  desktop: async () => (await import('./desktop.ts')).desktop,
  bell: async () => (await import('./bell.ts')).bell,
  ntfy: async () => (await import('./ntfy.ts')).ntfy,
  telegram: async () => (await import('./telegram.ts')).telegram,
  slack: async () => (await import('./slack.ts')).slack,
  discord: async () => (await import('./discord.ts')).discord,
  webhook: async () => (await import('./webhook.ts')).webhook,
  email: async () => (await import('./email.ts')).email,
  openclaw: async () => (await import('./openclaw.ts')).openclaw,
  command: async () => (await import('./command.ts')).command,
}

export function notifierFor(list: () => Promise<readonly Listing[]>, means: Means): Notifier {
  return {
    channels: list,
    deliver: async (channel, bulletin, signal) => {
      const listing = (await list()).find(({ name }) => name === channel)
      const doing = `notifying ${channel}`
      if (listing === undefined) throw new Trouble(doing, 'it is no longer configured', { mayHelpToRetry: false })
      const address = found(listing, doing)
      try {
        const driver = (await DRIVERS[address.type]()) as Driver<Address>
        return conceal(await driver(address, bulletin, { ...means, signal }), secretsIn(address))
      } catch (cause) {
        throw withoutSecrets(cause, doing, address)
      }
    },
  }
}

function found(listing: Listing, doing: string): Address {
  try {
    return listing.address()
  } catch (cause) {
    throw new Trouble(doing, cause)
  }
}

function withoutSecrets(cause: unknown, doing: string, address: Address): Trouble {
  const words = conceal(reasonIn(cause), secretsIn(address))
  if (cause instanceof Busy) return new Busy(doing, words, cause.wait)
  return new Trouble(doing, words, { mayHelpToRetry: cause instanceof Trouble ? cause.mayHelpToRetry : true })
}

/** Every secret of an address, also the parts of a URL that a server may quote. */
function secretsIn(address: Address): string[] {
  return Object.values(address).flatMap((value: unknown) => {
    if (!(value instanceof Secret)) return []
    const text = value.reveal()
    if (!URL.canParse(text)) return [text]
    const { pathname, search, username, password } = new URL(text)
    const segments = pathname.split('/')
    return [text, pathname, search.slice(1), username, password, decoded(password), ...segments]
  })
}

/** A password may hold a % that stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
