import type { Failure, FailureKind } from '../../../core/failure.ts'
import { endsOf } from '../../../lib/ends-of.ts'
import { oneLine } from '../../../lib/terminal-text.ts'
import type { Instant } from '../../../lib/time.ts'
import { json, jsonIn, text } from '../json.ts'
import { delayIn } from './delay.ts'

export const LOGIN_REMEDY = "start pi and type /login, or set the API key of the model's provider"

/**
 * What a failed request to the model means. pi hands on what the provider said, with the HTTP status before it where there was
 * one: `429 Rate limit …` (0.73), `429: {"message":…}` (0.87). `at` is when it was said: limits end so and so much later.
 */
export function failureOf(whole: string, at: Instant | null): Failure {
  const message = endsOf(whole, 4_096)
  const kind = kindOf(message)
  const delay = kind === 'rate-limit' || kind === 'overloaded' ? delayIn(message) : undefined
  const resetAt = delay === undefined || at === null ? null : at + delay
  return { kind, text: readableText(whole), resetAt, remedy: remedyFor(kind, message) }
}

function kindOf(message: string): FailureKind {
  const status = statusIn(message)
  if (LIMITED.test(message)) return 'rate-limit'
  if (TOO_LONG.test(message) || status === 413) return 'context'
  if (status === 429 || status === 402) return 'rate-limit'
  if (status === 401 || status === 403 || UNKNOWN_TO_IT.test(message)) return 'login'
  if (status === 404 || NO_SUCH_MODEL.test(message)) return 'setup'
  if (status >= 500 || OVERLOADED.test(message)) return 'overloaded'
  return CUT_OFF.test(message) ? 'network' : 'other'
}

const LIMITED =
  /rate.?limit|too many requests|usage.?limit|quota|throttl|resource.?exhausted|retry delay|out of budget|billing|credit balance/i
/** As seen from the providers pi speaks to; its own list (pi-ai, utils/overflow) is where these come from. */
const TOO_LONG =
  /context[_ ](?:window|length|size)|maximum (?:context|prompt|allowed input) length|prompt (?:is )?too long|request_too_large|input (?:is too long|token count)|too many tokens|token limit|reduce the length of the messages|range of input length|exceeds the limit of \d+/i
const UNKNOWN_TO_IT =
  /authenticat|unauthori[sz]ed|invalid.{0,10}api.?key|no api key|api key (?:is )?(?:missing|not)|permission.?(?:denied|error)|token (?:has )?expired|\/login/i
const NO_SUCH_MODEL = /model.{0,60}(?:not found|does not exist|not supported)/i
const OVERLOADED =
  /overloaded|high demand|at capacity|service.?unavailable|server.?error|internal.?error|provider.?returned.?error|bad gateway/i
const CUT_OFF =
  /terminated|connection|network|fetch failed|socket|websocket|other side closed|ECONN|ENOTFOUND|EAI_AGAIN|EPIPE|getaddrinfo|timed? ?out|ended (?:without|before)|upstream|http2/i

function statusIn(message: string): number {
  const [, before, inside] = /^\s*(?:error:?\s*)?(\d{3})\b|"(?:code|status)":\s*"?(\d{3})\b/i.exec(message) ?? []
  return Number(before ?? inside ?? 0)
}

function remedyFor(kind: FailureKind, message: string): string | null {
  if (kind === 'login') return LOGIN_REMEDY
  if (kind === 'setup') return 'choose another model: pi --list-models shows them'
  const isUnpaid = kind === 'rate-limit' && /insufficient|billing|credit|balance|budget|^\s*402/i.test(message)
  return isUnpaid ? "look at the plan and the balance with the model's provider" : null
}

/** `429: {"error":{"message":"Slow down"}}` reads as `429: Slow down`. */
function readableText(message: string): string {
  const brace = message.indexOf('{')
  const told = brace < 0 ? '' : messageInside(message.slice(brace))
  return oneLine(endsOf(told === '' ? message : message.slice(0, brace) + told, 4_096))
}

/** Nothing when it is not JSON after all: then it is shown as it came. */
function messageInside(told: string): string {
  const body = jsonIn(told) ?? {}
  return text(body['message']) || text(json(body['error'])['message'])
}
