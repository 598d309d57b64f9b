import type { ChannelType } from '../../core/channels.ts'

/** A setting of a channel as data. Validation, `notify list` and the documentation go by it. */
export interface Field {
  readonly isRequired?: boolean
  /**
   * `secret` is given as it is, by `-env` as the name of a variable, or by `-file` as a file that holds it; `address` is the
   * same for a URL. `command` is split into words, `shell` is not.
   */
  readonly kind: 'secret' | 'address' | 'text' | 'mailbox' | 'mailboxes' | 'command' | 'shell'
  /** What a URL may begin with. */
  readonly schemes?: readonly string[]
}

const WEB: Field = { kind: 'address', schemes: ['https:', 'http:'] }

export const CHANNEL_TYPES: Readonly<Record<ChannelType, Readonly<Record<string, Field>>>> = {
  desktop: {},
  bell: {},
  ntfy: { url: { ...WEB, isRequired: true }, token: { kind: 'secret' } },
  telegram: { token: { kind: 'secret', isRequired: true }, chat: { kind: 'text', isRequired: true }, url: WEB },
  slack: { url: { ...WEB, isRequired: true } },
  discord: { url: { ...WEB, isRequired: true } },
  webhook: { url: { ...WEB, isRequired: true }, token: { kind: 'secret' } },
  email: {
    to: { kind: 'mailboxes', isRequired: true },
    from: { kind: 'mailbox' },
    url: { kind: 'address', schemes: ['smtps:', 'smtp:'] },
    password: { kind: 'secret' },
  },
  openclaw: {},
  command: { run: { kind: 'command' }, shell: { kind: 'shell' } },
}

export const CHANNEL_TYPE_NAMES = Object.keys(CHANNEL_TYPES) as readonly ChannelType[]

/** The keys a field may be given by. */
export function keysOf(name: string, field: Field): string[] {
  return field.kind === 'secret' || field.kind === 'address' ? [name, `${name}-env`, `${name}-file`] : [name]
}
