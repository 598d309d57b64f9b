import { type Duration, formatDuration, type Instant } from '../../lib/time.ts'

/** A time for people: past ones in their largest unit, `12 min ago`; future ones as exactly as one plans, `in 3 h 20 min`. */
export function relative(at: string, now: Instant): string {
  const distance = now - Date.parse(at)
  if (Math.abs(distance) < 1000) return 'now'
  return distance > 0 ? `${roughly(distance)} ago` : `in ${formatDuration(-distance)}`
}

function roughly(duration: Duration): string {
  const seconds = Math.floor(duration / 1000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`
  return `${Math.floor(seconds / 86_400)} d`
}
