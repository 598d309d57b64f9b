import type { Address } from '../../core/channels.ts'
import { clip } from './clip.ts'
import type { Driver } from './driver.ts'
import { bearer, post } from './post.ts'

/** A message of more than 4096 bytes becomes an attachment. */
const LONGEST = 1_000

/**
 * Published as JSON to the server's root, because headers can hold no umlaut. From ntfy 2.16 on the sequence id makes a
 * repetition replace the message; older servers do not know it.
 */
export const ntfy: Driver<Extract<Address, { type: 'ntfy' }>> = async (
  { url, token },
  { id, heading, text, isUrgent },
  { signal },
) => {
  const place = new URL(url.reveal())
  const segments = place.pathname.split('/').filter(segment => segment !== '')
  const topic = decodeURIComponent(segments.pop() ?? '')
  if (topic === '') throw new Error('its url has no topic, as in https://ntfy.sh/my-topic')
  place.pathname = `/${segments.join('/')}`
  const priority = isUrgent ? 4 : 3
  const body = { topic, title: heading, message: clip(text, LONGEST), priority, sequence_id: id }
  await post(place, body, { signal, headers: bearer(token) })
  return `published to ${place.host}`
}
