/** A point in time, in milliseconds since 1970. */
export type Instant = number
/** A length of time in milliseconds. */
export type Duration = number

const UNITS: Record<string, Duration> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A thousand years: now plus any duration is still a valid date. */
export const LONGEST_DURATION: Duration = 365_000 * 86_400_000

/** The last instant that a date can express. */
export const LAST_INSTANT: Instant = 8.64e15

/** Parses `90s`, `5m`, `1h30m`, `250ms`, `2d`; a bare number means seconds. Returns undefined for anything else. */
export function parseDuration(text: string): Duration | undefined {
  const duration = sumUnits(text.trim())
  return duration === undefined || duration > LONGEST_DURATION ? undefined : duration
}

function sumUnits(trimmed: string): Duration | undefined {
  if (/^\d+(\.\d+)?$/.test(trimmed)) return Math.round(Number(trimmed) * 1000)
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(trimmed)) return undefined
  let total = 0
  for (const [, amount, unit] of trimmed.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    total += Number(amount) * (UNITS[unit as string] as number)
  }
  return Math.round(total)
}

/** Formats a duration in at most two units: `1 h 30 min`, `12 s`, `250 ms`. */
export function formatDuration(duration: Duration): string {
  const ms = Math.max(0, Math.round(duration))
  if (ms < 1000) return `${ms} ms`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return ms < 10_000 && ms % 1000 !== 0 ? `${(ms / 1000).toFixed(1)} s` : `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return formatTwoUnits(minutes, 'min', seconds % 60, 's')
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return formatTwoUnits(hours, 'h', minutes % 60, 'min')
  return formatTwoUnits(Math.floor(hours / 24), 'd', hours % 24, 'h')
}

export function formatIso(at: Instant): string {
  return new Date(at).toISOString()
}

function formatTwoUnits(major: number, majorUnit: string, minor: number, minorUnit: string): string {
  return minor === 0 ? `${major} ${majorUnit}` : `${major} ${majorUnit} ${minor} ${minorUnit}`
}
