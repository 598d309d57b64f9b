import type { Address } from '../../core/channels.ts'
import { clip } from './clip.ts'
import type { Driver } from './driver.ts'
import { post } from './post.ts'

/** Discord takes 2000 characters, the backslashes among them. */
const LONGEST = 1_000

/** Nobody is mentioned, whatever the text says, and nothing in it is Markdown. */
export const discord: Driver<Extract<Address, { type: 'discord' }>> = async ({ url }, { text }, { signal }) => {
  const place = new URL(url.reveal())
  const plain = clip(text, LONGEST).replace(/[\\*_~`|>#[\]()<-]/g, '\\$&')
  await post(place, { content: plain.slice(0, 2_000), allowed_mentions: { parse: [] } }, { signal })
  return `sent to ${place.host}`
}
