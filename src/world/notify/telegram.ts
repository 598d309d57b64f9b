import type { Address } from '../../core/channels.ts'
import { clip } from './clip.ts'
import type { Driver } from './driver.ts'
import { post } from './post.ts'

/** Telegram takes 4096 characters. */
const LONGEST = 4_000

/** Without a parse mode the text is nothing but text. */
export const telegram: Driver<Extract<Address, { type: 'telegram' }>> = async (
  { url, token, chat },
  { text },
  { signal },
) => {
  const place = new URL(`${url.reveal().replace(/(?<!\/)\/+$/, '')}/bot${token.reveal()}/sendMessage`)
  const body = { chat_id: chat, text: clip(text, LONGEST), link_preview_options: { is_disabled: true } }
  await post(place, body, { signal })
  return `sent by ${place.host}`
}
