import { type Duration, parseDuration } from '../../../lib/time.ts'

const TOLD = [
  /(?:try again|retry|reset|resets) (?:in|after) (?:about |~)?((?:[\d.]+ ?(?:ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h|days?|d)(?![a-z]) ?)+)/i,
  /requested ([\d.]+s) retry delay/i,
  /"retryDelay":\s*"([\d.]+s)"/i,
]

/** How long to wait, where a provider says so: `Please try again in 1m30s`, `Try again in ~45 min`. */
export function delayIn(message: string): Duration | undefined {
  for (const pattern of TOLD) {
    const told = pattern.exec(message)?.[1]
    if (told !== undefined) return parseDuration(shortened(told))
  }
  return undefined
}

function shortened(text: string): string {
  return text
    .toLowerCase()
    .replace(/\s+/g, '')
    .replace(/(\d)(?:seconds?|secs?)/g, '$1s')
    .replace(/(\d)(?:minutes?|mins?)/g, '$1m')
    .replace(/(\d)hours?/g, '$1h')
    .replace(/(\d)days?/g, '$1d')
}
