import type { Failure, FailureKind } from '../../../core/session/failure.ts'
import { headAndTail } from '../../../lib/text/head-and-tail.ts'
import { toOneLine } from '../../../lib/text/strip-terminal-controls.ts'
import { type Duration, type Instant, parseDuration } from '../../../lib/time.ts'
import { asObject, asString, parseObject } from '../shared/tolerant-json.ts'

export const LOGIN_REMEDY = "start pi and type /login, or set the API key of the model's provider"

/**
 * Classifies a failed request to the model. pi passes the provider's message on, with the HTTP status before it if
 * there was one: `429 Rate limit …` (0.73), `429: {"message":…}` (0.87). `at` is the time of the message: limits end a
 * given time after it.
 */
export function classifyError(whole: string, at: Instant | null): Failure {
  const message = headAndTail(whole, 4_096)
  const kind = failureKind(message)
  const delay = kind === 'rate-limit' || kind === 'overloaded' ? parseRetryDelay(message) : undefined
  const resetAt = delay === undefined || at === null ? null : at + delay
  return { kind, text: errorText(whole), resetAt, remedy: remedyFor(kind, message) }
}

function failureKind(message: string): FailureKind {
  const status = parseStatus(message)
  if (RATE_LIMIT_WORDS.test(message)) return 'rate-limit'
  if (CONTEXT_WORDS.test(message) || status === 413) return 'context'
  if (status === 429 || status === 402) return 'rate-limit'
  if (status === 401 || status === 403 || LOGIN_WORDS.test(message)) return 'login'
  if (status === 404 || UNKNOWN_MODEL_WORDS.test(message)) return 'setup'
  if (status >= 500 || OVERLOAD_WORDS.test(message)) return 'overloaded'
  return CONNECTION_WORDS.test(message) ? 'network' : 'other'
}

const RATE_LIMIT_WORDS =
  /rate.?limit|too many requests|usage.?limit|quota|throttl|resource.?exhausted|retry delay|out of budget|billing|credit balance/i
/** These messages of pi's providers come from pi's own list (pi-ai, utils/overflow). */
const CONTEXT_WORDS =
  /context[_ ](?:window|length|size)|maximum (?:context|prompt|allowed input) length|prompt (?:is )?too long|request_too_large|input (?:is too long|token count)|too many tokens|token limit|reduce the length of the messages|range of input length|exceeds the limit of \d+/i
const LOGIN_WORDS =
  /authenticat|unauthori[sz]ed|invalid.{0,10}api.?key|no api key|api key (?:is )?(?:missing|not)|permission.?(?:denied|error)|token (?:has )?expired|\/login/i
const UNKNOWN_MODEL_WORDS = /model.{0,60}(?:not found|does not exist|not supported)/i
const OVERLOAD_WORDS =
  /overloaded|high demand|at capacity|service.?unavailable|server.?error|internal.?error|provider.?returned.?error|bad gateway/i
const CONNECTION_WORDS =
  /terminated|connection|network|fetch failed|socket|websocket|other side closed|ECONN|ENOTFOUND|EAI_AGAIN|EPIPE|getaddrinfo|timed? ?out|ended (?:without|before)|upstream|http2/i

function parseStatus(message: string): number {
  const [, before, inside] = /^\s*(?:error:?\s*)?(\d{3})\b|"(?:code|status)":\s*"?(\d{3})\b/i.exec(message) ?? []
  return Number(before ?? inside ?? 0)
}

function remedyFor(kind: FailureKind, message: string): string | null {
  if (kind === 'login') return LOGIN_REMEDY
  if (kind === 'setup') return 'choose another model: pi --list-models shows them'
  const isUnpaid = kind === 'rate-limit' && /insufficient|billing|credit|balance|budget|^\s*402/i.test(message)
  return isUnpaid ? "look at the plan and the balance with the model's provider" : null
}

/** Returns `429: Slow down` for `429: {"error":{"message":"Slow down"}}`. */
function errorText(message: string): string {
  const brace = message.indexOf('{')
  const detail = brace < 0 ? '' : innerMessage(message.slice(brace))
  return toOneLine(headAndTail(detail === '' ? message : message.slice(0, brace) + detail, 4_096))
}

/** Returns an empty string when the text is not JSON; the caller then shows it unchanged. */
function innerMessage(detail: string): string {
  const body = parseObject(detail) ?? {}
  return asString(body['message']) || asString(asObject(body['error'])['message'])
}

const DELAY_PATTERNS = [
  /(?:try again|retry|reset|resets) (?:in|after) (?:about |~)?((?:[\d.]+ ?(?:ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h|days?|d)(?![a-z]) ?)+)/i,
  /requested ([\d.]+s) retry delay/i,
  /"retryDelay":\s*"([\d.]+s)"/i,
]

/** Returns the time to wait if a provider gives one: `Please try again in 1m30s`, `Try again in ~45 min`. */
function parseRetryDelay(message: string): Duration | undefined {
  for (const pattern of DELAY_PATTERNS) {
    const delay = pattern.exec(message)?.[1]
    if (delay !== undefined) return parseDuration(normalizeUnits(delay))
  }
  return undefined
}

function normalizeUnits(text: string): string {
  return text
    .toLowerCase()
    .replace(/\s+/g, '')
    .replace(/(\d)(?:seconds?|secs?)/g, '$1s')
    .replace(/(\d)(?:minutes?|mins?)/g, '$1m')
    .replace(/(\d)hours?/g, '$1h')
    .replace(/(\d)days?/g, '$1d')
}
