import type { Secret } from '../../lib/secret.ts'
import type { NoticeKind } from './notice.ts'

/** A destination for notices of some kinds. */
export interface Channel {
  readonly name: string
  readonly events: readonly NoticeKind[]
  readonly address: ChannelAddress
}

/** The settings of a channel's driver. An address that grants access to anybody who knows it is a secret. */
export type ChannelAddress =
  | { readonly type: 'desktop' }
  | { readonly type: 'bell' }
  | { readonly type: 'ntfy'; readonly url: Secret; readonly token: Secret | null }
  | { readonly type: 'telegram'; readonly url: Secret; readonly token: Secret; readonly chat: string }
  | { readonly type: 'slack'; readonly url: Secret }
  | { readonly type: 'discord'; readonly url: Secret }
  | { readonly type: 'webhook'; readonly url: Secret; readonly token: Secret | null }
  | {
      readonly type: 'email'
      readonly to: readonly string[]
      readonly from: string | null
      /** A mail server; null uses this machine's own `sendmail`. */
      readonly url: Secret | null
      readonly password: Secret | null
    }
  | { readonly type: 'openclaw' }
  | { readonly type: 'command'; readonly argv: readonly string[] }

export type ChannelType = ChannelAddress['type']
