import type { Failure, FailureKind } from '../../../core/session/failure.ts'
import { headAndTail } from '../../../lib/text/head-and-tail.ts'
import { toOneLine } from '../../../lib/text/strip-terminal-controls.ts'
import { type Instant, parseDuration } from '../../../lib/time.ts'
import { asNumber, asObject, parseObject, asString } from '../shared/tolerant-json.ts'

export const LOGIN_REMEDY = 'start gemini and log in, or set GEMINI_API_KEY'

/**
 * Classifies the error of a failed turn: `[API Error: {"error":{"code":429,…}}]`, or plain text. `at` is the time of
 * the message.
 */
export function classifyError(message: string, at: Instant | null): Failure {
  const whole = unwrapApiError(message)
  const error = asObject(parseObject(whole)?.['error'])
  const excerpt = headAndTail(whole, 4_096)
  const code = asNumber(error['code'])
  const summary = toOneLine(headAndTail([code || '', asString(error['message']) || excerpt].join(' '), 4_096))
  const kind = failureKind(summary, code)
  return {
    kind,
    text: summary,
    resetAt: kind === 'rate-limit' ? parseLimitReset(excerpt, at) : null,
    remedy: remedyFor(kind),
  }
}

function unwrapApiError(message: string): string {
  const begin = '[API Error: '
  return message.startsWith(begin) && message.endsWith(']') ? message.slice(begin.length, -1) : message
}

function failureKind(text: string, code: number): FailureKind {
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

/** Reads `Please retry in 32.5s` and `"retryDelay":"34s"`. */
function parseLimitReset(text: string, at: Instant | null): Instant | null {
  const [, delay] = /(?:retry in |retryDelay"?:\s*"?)((?:[\d.]+(?:ms|s|m|h))+)/i.exec(text) ?? []
  const duration = delay === undefined ? undefined : parseDuration(delay)
  return at === null || duration === undefined ? null : at + duration
}

function remedyFor(kind: FailureKind): string | null {
  if (kind === 'login') return LOGIN_REMEDY
  return kind === 'setup' ? 'choose another model' : null
}
