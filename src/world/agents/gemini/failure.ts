import type { Failure, FailureKind } from '../../../core/failure.ts'
import { endsOf } from '../../../lib/ends-of.ts'
import { oneLine } from '../../../lib/terminal-text.ts'
import { type Instant, parseDuration } from '../../../lib/time.ts'
import { amount, json, jsonIn, text } from '../json.ts'

export const LOGIN_REMEDY = 'start gemini and log in, or set GEMINI_API_KEY'

/** What gemini said when a turn failed: `[API Error: {"error":{"code":429,…}}]`, or plain words. `at` is when it said so. */
export function failureOf(message: string, at: Instant | null): Failure {
  const whole = unwrapped(message)
  const error = json(jsonIn(whole)?.['error'])
  const told = endsOf(whole, 4_096)
  const code = amount(error['code'])
  const words = oneLine(endsOf([code || '', text(error['message']) || told].join(' '), 4_096))
  const kind = kindOf(words, code)
  return { kind, text: words, resetAt: kind === 'rate-limit' ? resetIn(told, at) : null, remedy: remedyFor(kind) }
}

function unwrapped(message: string): string {
  const begin = '[API Error: '
  return message.startsWith(begin) && message.endsWith(']') ? message.slice(begin.length, -1) : message
}

function kindOf(text: string, code: number): FailureKind {
  if (/token count.{0,200}exceeds|context (?:window|length)/i.test(text)) return 'context'
  if (code === 429 || /quota|rate.?limit|resource.?exhausted/i.test(text)) return 'rate-limit'
  if (code === 401 || code === 403 || /api.?key|authenticat|credential|permission denied/i.test(text)) return 'login'
  if (code === 404 || /model.{0,200} not found|is not found/i.test(text)) return 'setup'
  if (code >= 500 || /overloaded|unavailable|no capacity|internal error/i.test(text)) return 'overloaded'
  if (/empty response/i.test(text)) return 'empty'
  if (/max(?:imum)? session turns/i.test(text)) return 'budget'
  return /terminated|fetch failed|network|socket|ECONN|ENOTFOUND|EAI_AGAIN|timed? ?out/i.test(text)
    ? 'network'
    : 'other'
}

/** `Please retry in 32.5s`, `"retryDelay":"34s"`. */
function resetIn(told: string, at: Instant | null): Instant | null {
  const [, delay] = /(?:retry in |retryDelay"?:\s*"?)((?:[\d.]+(?:ms|s|m|h))+)/i.exec(told) ?? []
  const duration = delay === undefined ? undefined : parseDuration(delay)
  return at === null || duration === undefined ? null : at + duration
}

function remedyFor(kind: FailureKind): string | null {
  if (kind === 'login') return LOGIN_REMEDY
  return kind === 'setup' ? 'choose another model' : null
}
