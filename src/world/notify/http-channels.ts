import type { ChannelAddress } from '../../core/notify/channel.ts'
import { bearerHeader, postJson, truncate } from './http-post.ts'
import type { ChannelDriver } from './channel-driver.ts'

/** ntfy turns a message of more than 4096 bytes into an attachment. */
const MAX_NTFY_LENGTH = 1_000

/**
 * Publishes JSON to the server's root, because headers cannot hold non-ASCII characters. From ntfy 2.16 on, the
 * sequence id makes a repeated message replace the first; older servers ignore it.
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

/** Telegram accepts 4096 characters. */
const MAX_TELEGRAM_LENGTH = 4_000

/** Without a parse mode Telegram treats the text as plain text. */
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

/** In Slack these characters start links, mentions and entities; escaped, they are plain text. */
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

/** Discord accepts 2000 characters, including the backslashes. */
const MAX_DISCORD_LENGTH = 1_000

/** Escapes all Markdown and allows no mentions, whatever the text contains. */
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
