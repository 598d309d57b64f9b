import type { ChannelAddress } from '../../core/notify/channel.ts'
import { bearerHeader, postJson, truncate } from './http-post.ts'
import type { ChannelDriver } from './channel-driver.ts'

/** A message of more than 4096 bytes becomes an attachment. */
const MAX_NTFY_LENGTH = 1_000

/**
 * Published as JSON to the server's root, because headers can hold no umlaut. From ntfy 2.16 on the sequence id makes a
 * repetition replace the message; older servers do not know it.
 */
export const ntfy: ChannelDriver<Extract<ChannelAddress, { type: 'ntfy' }>> = async (
  { url, token },
  { id, heading, text, isUrgent },
  { signal },
) => {
  const target = new URL(url.reveal())
  const segments = target.pathname.split('/').filter(segment => segment !== '')
  const topic = decodeURIComponent(segments.pop() ?? '')
  if (topic === '') throw new Error('its url has no topic, as in https://ntfy.sh/my-topic')
  target.pathname = `/${segments.join('/')}`
  const priority = isUrgent ? 4 : 3
  const body = { topic, title: heading, message: truncate(text, MAX_NTFY_LENGTH), priority, sequence_id: id }
  await postJson(target, body, { signal, headers: bearerHeader(token) })
  return `published to ${target.host}`
}

/** Telegram takes 4096 characters. */
const MAX_TELEGRAM_LENGTH = 4_000

/** Without a parse mode the text is nothing but text. */
export const telegram: ChannelDriver<Extract<ChannelAddress, { type: 'telegram' }>> = async (
  { url, token, chat },
  { text },
  { signal },
) => {
  const target = new URL(`${url.reveal().replace(/(?<!\/)\/+$/, '')}/bot${token.reveal()}/sendMessage`)
  const body = { chat_id: chat, text: truncate(text, MAX_TELEGRAM_LENGTH), link_preview_options: { is_disabled: true } }
  await postJson(target, body, { signal })
  return `sent by ${target.host}`
}

const MAX_SLACK_LENGTH = 3_000

/** These three characters make links, mentions of everybody and entities; escaped, they are themselves. */
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

export const slack: ChannelDriver<Extract<ChannelAddress, { type: 'slack' }>> = async (
  { url },
  { text },
  { signal },
) => {
  const target = new URL(url.reveal())
  const escaped = truncate(text, MAX_SLACK_LENGTH).replace(/[&<>]/g, character => ENTITIES[character] ?? '')
  await postJson(target, { text: escaped, mrkdwn: false }, { signal })
  return `sent to ${target.host}`
}

/** Discord takes 2000 characters, the backslashes among them. */
const MAX_DISCORD_LENGTH = 1_000

/** Nobody is mentioned, whatever the text says, and nothing in it is Markdown. */
export const discord: ChannelDriver<Extract<ChannelAddress, { type: 'discord' }>> = async (
  { url },
  { text },
  { signal },
) => {
  const target = new URL(url.reveal())
  const escaped = truncate(text, MAX_DISCORD_LENGTH).replace(/[\\*_~`|>#[\]()<-]/g, '\\$&')
  await postJson(target, { content: escaped.slice(0, 2_000), allowed_mentions: { parse: [] } }, { signal })
  return `sent to ${target.host}`
}

export const webhook: ChannelDriver<Extract<ChannelAddress, { type: 'webhook' }>> = async (
  { url, token },
  { id, document },
  { signal },
) => {
  const target = new URL(url.reveal())
  await postJson(target, document, { signal, headers: { 'idempotency-key': id, ...bearerHeader(token) } })
  return `posted to ${target.host}`
}
