import { escapeInJson } from '../../lib/text/invisible-characters.ts'
import { type Duration, type Instant, formatDuration } from '../../lib/time.ts'

/** Writes one indented document: people read it as often as programs. */
export function toJson(value: unknown): string {
  return escapeInJson(JSON.stringify(value, null, 2))
}

/** Writes the value in one line. */
export function toJsonLine(value: unknown): string {
  return escapeInJson(JSON.stringify(value))
}

/**
 * Formats a time for people: a past one in its largest unit, `12 min ago`; a future one more exactly, `in 3 h 20 min`.
 */
export function relativeTime(at: string, now: Instant): string {
  const distance = now - Date.parse(at)
  if (Math.abs(distance) < 1000) return 'now'
  return distance > 0 ? `${roughDuration(distance)} ago` : `in ${formatDuration(-distance)}`
}

function roughDuration(duration: Duration): string {
  const seconds = Math.floor(duration / 1000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`
  return `${Math.floor(seconds / 86_400)} d`
}
