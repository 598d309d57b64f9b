import type { Address } from '../../core/channels.ts'
import type { NoticeKind } from '../../core/notices.ts'
import { conceal, Secret } from '../../lib/secret.ts'
import { reasonIn, Trouble } from '../../lib/trouble.ts'
import { Busy, type Notifier } from '../../ports/notifier.ts'
import { bell } from './bell.ts'
import { command } from './command.ts'
import { desktop } from './desktop.ts'
import type { Driver, Means } from './driver.ts'
import { discord } from './discord.ts'
import { email } from './email.ts'
import { ntfy } from './ntfy.ts'
import { openclaw } from './openclaw.ts'
import { slack } from './slack.ts'
import { telegram } from './telegram.ts'
import { webhook } from './webhook.ts'

/** A channel of the user's; its secrets are looked up when it is used. */
export interface Listing {
  readonly name: string
  readonly events: readonly NoticeKind[]
  readonly address: () => Address
}

const DRIVERS: { readonly [T in Address['type']]: Driver<Extract<Address, { type: T }>> } = {
  desktop,
  bell,
  ntfy,
  telegram,
  slack,
  discord,
  webhook,
  email,
  openclaw,
  command,
}

export function notifierFor(list: () => Promise<readonly Listing[]>, means: Means): Notifier {
  return {
    channels: list,
    deliver: async (channel, bulletin, signal) => {
      const listing = (await list()).find(({ name }) => name === channel)
      const doing = `telling ${channel}`
      if (listing === undefined) throw new Trouble(doing, 'it is configured no more', { mayHelpToRetry: false })
      const address = found(listing, doing)
      try {
        const driver = DRIVERS[address.type] as Driver<Address>
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
    return [text, pathname, search.slice(1), username, password, decodeURIComponent(password), ...segments]
  })
}
