import type { Failure, FailureKind } from '../../../core/session/failure.ts'
import { headAndTail } from '../../../lib/text/head-and-tail.ts'
import { toOneLine } from '../../../lib/text/strip-terminal-controls.ts'
import type { Instant } from '../../../lib/time.ts'
import { asNumber, type JsonObject, asObject, asString } from '../shared/tolerant-json.ts'

/** Classifies an `error` event of opencode. `at` is the time of the event. */
export function classifyError(error: JsonObject, at: Instant): Failure {
  const about = asObject(error['data'])
  const name = asString(error['name'])
  const message = headAndTail(asString(about['message']) || name || 'opencode failed without saying why', 4_096)
  const status = asNumber(about['statusCode'])
  const kind = failureKind(name, status, message)
  return {
    kind,
    text: toOneLine(message),
    resetAt: kind === 'rate-limit' ? parseLimitReset(asObject(about['responseHeaders']), message, at) : null,
    remedy: remedyFor(kind, status, message),
  }
}

function failureKind(name: string, status: number, message: string): FailureKind {
  if (name === 'ContextOverflowError') return 'context'
  if (name === 'ProviderAuthError' || status === 401 || status === 403) return 'login'
  if (status === 402 || (status === 404 && /model/i.test(message))) return 'setup'
  if (status === 429) return 'rate-limit'
  if (status >= 500) return 'overloaded'
  if (status === 0) return KIND_PATTERNS.find(([pattern]) => pattern.test(message))?.[1] ?? 'other'
  return 'other'
}

/** Patterns for errors without a status; the first two come from opencode 1.18.33 itself. */
const KIND_PATTERNS: readonly (readonly [RegExp, FailureKind])[] = [
  [/cannot connect to api|connection reset|unable to connect/i, 'network'],
  [/socket connection was closed|ECONN|ENOTFOUND|timed out|timeout|network/i, 'network'],
  [/overloaded|at capacity|high demand/i, 'overloaded'],
  [/rate limit|too many requests|usage limit/i, 'rate-limit'],
]

function remedyFor(kind: FailureKind, status: number, message: string): string | null {
  if (kind === 'login') return 'opencode auth login'
  if (status === 402) return 'check your plan and its billing'
  // opencode 1.18.33 prints only this for an unknown model or provider.
  return kind === 'setup' || message.startsWith('Unexpected server error') ? 'opencode models' : null
}

function parseLimitReset(headers: JsonObject, message: string, at: Instant): Instant | null {
  const milliseconds = Number(headers['retry-after-ms'])
  if (milliseconds > 0) return at + milliseconds
  const after = asString(headers['retry-after'])
  if (Number(after) > 0) return at + Number(after) * 1000
  const date = Date.parse(after)
  if (!Number.isNaN(date)) return date
  const seconds = /try again in (\d+(?:\.\d+)?)s\b/i.exec(message)?.[1]
  return seconds === undefined ? null : at + Math.ceil(Number(seconds) * 1000)
}
