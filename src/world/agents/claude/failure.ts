import type { Failure, FailureKind } from '../../../core/failure.ts'
import { oneLine } from '../../../lib/terminal-text.ts'
import { remedyFor } from './remedy.ts'
import type { Trouble } from './trouble.ts'

export function failureOf(trouble: Trouble): Failure {
  const kind = kindOf(trouble)
  const resetAt = kind === 'rate-limit' ? (trouble.resetAt ?? null) : null
  const text = oneLine(trouble.words)
  return { kind, text, resetAt, remedy: remedyFor(kind, trouble) }
}

function kindOf({ error, code = '', status, reason = '', words }: Trouble): FailureKind {
  if (TOO_LONG.has(reason) || words.startsWith('Prompt is too long') || status === 413) return 'context'
  // 2.1.197 has no code for it. The same history would be refused again.
  if (/tool use concurrency issues/.test(words)) return 'thread-lost'
  // As after a change of the account: the signatures of the history are those of another one.
  if (/invalid.{0,4}(?:signature|data).{0,4}in.{0,4}(?:redacted_)?thinking/i.test(words)) return 'thread-lost'
  if (/thinking.{0,4}blocks.{0,80}cannot be modified/i.test(words)) return 'thread-lost'
  return BY_CODE.get(code) ?? BY_ERROR.get(error) ?? byStatus(status, words)
}

const TOO_LONG = new Set(['prompt_too_long', 'blocking_limit', 'rapid_refill_breaker'])

const BY_CODE = new Map<string, FailureKind>([
  ...all('usage_limit_reached model_requires_usage_credits', 'rate-limit'),
  ...all('connection_failed no_response stream_idle_timeout computer_slept network_edge_blocked', 'network'),
  ...all('stored_login_refused provider_credentials gateway_signin_required gateway_session_expired', 'login'),
  ...all('api_key_auth_disabled org_disabled_credential invalid_credential_header', 'login'),
  ...all('claude_code_version_too_old effort_requires_thinking advisor_incompatible', 'setup'),
  ...all('long_context_credits_required tls_untrusted_ca gateway_content_type', 'setup'),
  ['autocompact_thrashing', 'context'],
  ['tool_history_mismatch', 'thread-lost'],
])

const BY_ERROR = new Map<string, FailureKind>([
  ...all('authentication_failed oauth_org_not_allowed account_on_hold verification_required', 'login'),
  ...all('billing_error cloud_credential_error', 'login'),
  ['rate_limit', 'rate-limit'],
  ['overloaded', 'overloaded'],
  ['model_not_found', 'setup'],
])

function all(names: string, kind: FailureKind): [string, FailureKind][] {
  return names.split(' ').map(name => [name, kind])
}

/** A lost connection is called a `server_error` in the end, and `unknown` while it is tried again. */
function byStatus(status: number | null, words: string): FailureKind {
  if (status === null) return words === '' || CUT_OFF.test(words) ? 'network' : 'other'
  if (status === 429) return 'rate-limit'
  if (status === 401 || status === 402 || status === 403) return 'login'
  if (status === 408) return 'network'
  return status >= 500 ? 'overloaded' : 'other'
}

const CUT_OFF =
  /E(?:CONN\w+|NOTFOUND|AI_AGAIN|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH)|unable to connect|can't reach|connection|timed? ?out/i
