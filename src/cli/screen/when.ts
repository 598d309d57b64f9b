import type { Duration, Instant } from '../../lib/time.ts'

/** A time for people, in its largest unit: `12 min ago`, `in 3 h`. */
export function relative(at: string, now: Instant): string {
  const distance = now - Date.parse(at)
  if (Math.abs(distance) < 1000) return 'now'
  return distance > 0 ? `${roughly(distance)} ago` : `in ${roughly(-distance)}`
}

function roughly(duration: Duration): string {
  const seconds = Math.floor(duration / 1000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`
  return `${Math.floor(seconds / 86_400)} d`
}
