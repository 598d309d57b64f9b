import crypto from 'node:crypto'

/** Returns a UUID derived from a name: equal names give equal UUIDs, and other names give others. */
export function nameUuid(name: string): string {
  const hash = crypto.createHash('sha256').update(name).digest('hex')
  const variant = ((Number.parseInt(hash.slice(16, 17), 16) & 3) | 8).toString(16)
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    variant + hash.slice(17, 20),
    hash.slice(20, 32),
  ].join('-')
}
