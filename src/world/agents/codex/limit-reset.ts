import type { Duration, Instant } from '../../../lib/time.ts'

/**
 * Returns the time at which a limit ends, which codex gives as a clock time or as a delay. Returns null when the
 * message gives no time or an unclear one.
 */
export function parseLimitReset(message: string, now: Instant, zone?: string): Instant | null {
  const relative = /try again in (\d+(?:\.\d+)?) ?(ms|s|m|h|seconds?|minutes?|hours?|days?)\b/i.exec(message)
  if (relative !== null) return now + Math.ceil(Number(relative[1]) * unitDuration(relative[2] ?? 's'))
  const absolute = /try again at (?:(\w{3}) (\d{1,2})\w\w, (\d{4}) )?(\d{1,2}):(\d\d) ([AP]M)\./i.exec(message)
  return absolute === null ? null : parseClockTime(absolute, now, zone)
}

/**
 * codex 0.166.0: `9:00 AM` always means today, and other days have a date. codex does not round the minute, so the
 * limit ends within it.
 */
function parseClockTime(match: RegExpExecArray, now: Instant, zone?: string): Instant | null {
  const [, month, day, year, hour, minute, half] = match
  const today = dateInZone(now, zone)
  if (today === null) return null
  const hours = (Number(hour) % 12) + (half?.toUpperCase() === 'PM' ? 12 : 0)
  const date: CalendarDate | null = month === undefined ? today : parseDate(year, month, day)
  if (date === null) return null
  const at = instantInZone([...date, hours, Number(minute)], zone) + MINUTE
  const isOutdated = at < now - HOUR // oneshot read the message long after codex wrote it, so the time may be of any day.
  return isOutdated ? null : at
}

type CalendarDate = readonly [year: number, month: number, day: number]
type WallTime = readonly [...CalendarDate, hour: number, minute: number]

const MINUTE: Duration = 60_000
const HOUR: Duration = 60 * MINUTE
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

function unitDuration(name: string): Duration {
  if (name === 'ms') return 1
  const units: Readonly<Record<string, Duration>> = { s: 1000, m: MINUTE, h: HOUR, d: 24 * HOUR }
  return units[name.charAt(0).toLowerCase()] ?? 1000
}

function parseDate(year: string | undefined, month: string, day: string | undefined): CalendarDate | null {
  const index = MONTHS.indexOf(month)
  return index < 0 ? null : [Number(year), index, Number(day)]
}

/** Returns the date in that time zone, or null for a zone that we cannot read. */
function dateInZone(at: Instant, zone?: string): CalendarDate | null {
  const shown = clockInZone(at, zone)
  if (shown === null) return null
  const date = new Date(shown)
  return [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
}

/** Computes the offset twice: the first guess may lie on the other side of a change to summer time. */
function instantInZone([year, month, day, hour, minute]: WallTime, zone?: string): Instant {
  const asUtc = Date.UTC(year, month, day, hour, minute)
  const guess = asUtc - zoneOffset(asUtc, zone)
  return asUtc - zoneOffset(guess, zone)
}

function zoneOffset(at: Instant, zone?: string): Duration {
  const whole = at - (at % 1000)
  return (clockInZone(whole, zone) ?? whole) - whole
}

/** Returns the wall time in that time zone as if it were UTC. */
function clockInZone(at: Instant, zone?: string): Instant | null {
  try {
    const format = new Intl.DateTimeFormat('en-US', { ...FIELDS, ...(zone === undefined ? {} : { timeZone: zone }) })
    const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part
    return Date.UTC(year, month - 1, day, hour, minute, second)
  } catch {
    return null // Node does not know a zone such as `CET-1CEST`; codex does.
  }
}

const FIELDS = {
  calendar: 'gregory',
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
} as const
