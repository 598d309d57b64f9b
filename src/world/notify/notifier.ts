import type { ChannelAddress } from '../../core/notify/channel.ts'
import type { NoticeKind } from '../../core/notify/notice.ts'
import { redactSecrets, Secret } from '../../lib/secret.ts'
import { rootReason, Trouble } from '../../lib/errors.ts'
import { ChannelBusy, type Notifier } from '../../ports/notifications.ts'
import type { ChannelDriver, DriverContext } from './channel-driver.ts'

/** A channel from the user's configuration. `address` reads its secrets at each use. */
export interface ConfiguredChannel {
  readonly name: string
  readonly events: readonly NoticeKind[]
  readonly address: () => ChannelAddress
}

/** Loads a driver at its first use: TLS alone takes a megabyte, which a supervisor without channels saves. */
const DRIVERS: {
  readonly [T in ChannelAddress['type']]: () => Promise<ChannelDriver<Extract<ChannelAddress, { type: T }>>>
} = {
  desktop: async () => (await import('./local-channels.ts')).desktop,
  bell: async () => (await import('./local-channels.ts')).bell,
  ntfy: async () => (await import('./http-channels.ts')).ntfy,
  telegram: async () => (await import('./http-channels.ts')).telegram,
  slack: async () => (await import('./http-channels.ts')).slack,
  discord: async () => (await import('./http-channels.ts')).discord,
  webhook: async () => (await import('./http-channels.ts')).webhook,
  email: async () => (await import('./email.ts')).email,
  openclaw: async () => (await import('./local-channels.ts')).openclaw,
  command: async () => (await import('./local-channels.ts')).command,
}

export function createNotifier(
  listChannels: () => Promise<readonly ConfiguredChannel[]>,
  context: DriverContext,
): Notifier {
  return {
    channels: listChannels,
    deliver: async (channel, bulletin, signal) => {
      const configured = (await listChannels()).find(({ name }) => name === channel)
      const doing = `notifying ${channel}`
      if (configured === undefined) throw new Trouble(doing, 'it is no longer configured', { mayHelpToRetry: false })
      const address = resolveAddress(configured, doing)
      try {
        const driver = (await DRIVERS[address.type]()) as ChannelDriver<ChannelAddress>
        return redactSecrets(await driver(address, bulletin, { ...context, signal }), secretsIn(address))
      } catch (cause) {
        throw hideSecretsInError(cause, doing, address)
      }
    },
  }
}

function resolveAddress(configured: ConfiguredChannel, doing: string): ChannelAddress {
  try {
    return configured.address()
  } catch (cause) {
    throw new Trouble(doing, cause)
  }
}

function hideSecretsInError(cause: unknown, doing: string, address: ChannelAddress): Trouble {
  const words = redactSecrets(rootReason(cause), secretsIn(address))
  if (cause instanceof ChannelBusy) return new ChannelBusy(doing, words, cause.wait)
  return new Trouble(doing, words, { mayHelpToRetry: cause instanceof Trouble ? cause.mayHelpToRetry : true })
}

/** Returns every secret of an address, including the parts of a URL that a server may quote. */
function secretsIn(address: ChannelAddress): string[] {
  return Object.values(address).flatMap((value: unknown) => {
    if (!(value instanceof Secret)) return []
    const text = value.reveal()
    if (!URL.canParse(text)) return [text]
    const { pathname, search, username, password } = new URL(text)
    const segments = pathname.split('/')
    return [text, pathname, search.slice(1), username, password, decodeOrSame(password), ...segments]
  })
}

/** Returns the text itself if it is not valid percent-encoding: a password may contain a literal %. */
function decodeOrSame(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
