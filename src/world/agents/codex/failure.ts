import type { Failure, FailureKind } from '../../../core/session/failure.ts'
import { toOneLine } from '../../../lib/text/strip-terminal-controls.ts'
import type { Instant } from '../../../lib/time.ts'
import { asObject, parseObject, asString } from '../shared/tolerant-json.ts'
import { parseLimitReset } from './limit-reset.ts'

/** Classifies an error message of codex. `zone` is the time zone of its clock times. */
export function classifyError(message: string, now: Instant, zone?: string): Failure {
  const kind = failureKind(message)
  return {
    kind,
    text: errorText(message),
    resetAt: kind === 'rate-limit' ? parseLimitReset(message, now, zone) : null,
    remedy: remedyFor(kind, message),
  }
}

/** All but the last two patterns come from codex 0.166.0 itself, with curly apostrophes. The first match counts. */
const KIND_PATTERNS: readonly (readonly [RegExp, FailureKind])[] = [
  // Only one account can read the reasoning in the history, and the API would refuse the same history again.
  [/invalid_encrypted_content/i, 'thread-lost'],
  // Some servers pass the error on without its code. The unreadable content may stand in between.
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

/** codex passes the answers of some servers on unchanged. */
function errorText(message: string): string {
  const { error } = parseObject(message) ?? {}
  const detail = asString(asObject(error)['message'])
  return toOneLine(detail === '' ? message : detail)
}
