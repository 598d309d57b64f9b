import type { Failure, FailureKind } from '../../../core/session/failure.ts'
import { toOneLine } from '../../../lib/text/terminal-text.ts'
import type { Instant } from '../../../lib/time.ts'
import { asObject, parseObject, asString } from '../shared/json.ts'
import { parseLimitReset } from './limit-reset.ts'

/** What an error message of codex means. `zone` is the time zone its clock times are in. */
export function classifyError(message: string, now: Instant, zone?: string): Failure {
  const kind = failureKind(message)
  return {
    kind,
    text: errorText(message),
    resetAt: kind === 'rate-limit' ? parseLimitReset(message, now, zone) : null,
    remedy: remedyFor(kind, message),
  }
}

/** All but the last two are from codex 0.166.0 itself; apostrophes in them are curly. The first that fits counts. */
const KIND_PATTERNS: readonly (readonly [RegExp, FailureKind])[] = [
  // The reasoning in the history can be read by one account only, and the same history would be refused again.
  [/invalid_encrypted_content/i, 'thread-lost'],
  // Passed on without its code. What could not be read may stand in between.
  [/encrypted content (?:for item )?\S{0,100000} ?could not be/i, 'thread-lost'],
  [/encrypted content organization_id did not match/i, 'thread-lost'],
  [/quota exceeded|to use codex with your chatgpt plan/i, 'setup'],
  [/hit your usage limit|429 too many requests|rate limit exceeded/i, 'rate-limit'],
  [/context_length_exceeded|context window/i, 'context'],
  [/high demand|at capacity|(?:unexpected|last) status:? 5\d\d/i, 'overloaded'],
  [/status:? 40[13]\b|missing environment variable|not logged in|sign in again/i, 'login'],
  [
    /waiting for network|connection failed|stream disconnected|error sending request|reading the server response/i,
    'network',
  ],
  [/model .{0,80}(?:does not exist|not supported|not found)|model_not_found/i, 'setup'],
  [/timed out|timeout/i, 'network'],
]

function failureKind(message: string): FailureKind {
  return KIND_PATTERNS.find(([pattern]) => pattern.test(message))?.[1] ?? 'other'
}

function remedyFor(kind: FailureKind, message: string): string | null {
  const variable = /missing environment variable: `(\w+)`/i.exec(message)?.[1]
  if (variable !== undefined) return `set ${variable} in the environment`
  if (kind === 'login') return 'codex login'
  return /quota exceeded|to use codex with your/i.test(message) ? 'check your plan and its billing' : null
}

/** Some servers' answers are passed on as they came. */
function errorText(message: string): string {
  const { error } = parseObject(message) ?? {}
  const told = asString(asObject(error)['message'])
  return toOneLine(told === '' ? message : told)
}
