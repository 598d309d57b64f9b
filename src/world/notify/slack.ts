import type { Address } from '../../core/channels.ts'
import { clip } from './clip.ts'
import type { Driver } from './driver.ts'
import { post } from './post.ts'

const LONGEST = 3_000

/** These three characters make links, mentions of everybody and entities; escaped, they are themselves. */
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

export const slack: Driver<Extract<Address, { type: 'slack' }>> = async ({ url }, { text }, { signal }) => {
  const place = new URL(url.reveal())
  const plain = clip(text, LONGEST).replace(/[&<>]/g, character => ENTITIES[character] ?? '')
  await post(place, { text: plain, mrkdwn: false }, { signal })
  return `sent to ${place.host}`
}
