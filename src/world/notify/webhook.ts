import type { Address } from '../../core/channels.ts'
import type { Driver } from './driver.ts'
import { bearer, post } from './post.ts'

export const webhook: Driver<Extract<Address, { type: 'webhook' }>> = async (
  { url, token },
  { id, document },
  { signal },
) => {
  const place = new URL(url.reveal())
  await post(place, document, { signal, headers: { 'idempotency-key': id, ...bearer(token) } })
  return `posted to ${place.host}`
}
