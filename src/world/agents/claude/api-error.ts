import type { Failure, FailureKind } from '../../../core/session/failure.ts'
import { toOneLine } from '../../../lib/text/strip-terminal-controls.ts'

export function classifyApiError(error: ApiError): Failure {
  const kind = failureKind(error)
  const resetAt = kind === 'rate-limit' ? (error.resetAt ?? null) : null
  const text = toOneLine(error.words)
  return { kind, text, resetAt, remedy: remedyFor(kind, error) }
}

function failureKind({ error, code = '', status, reason = '', words }: ApiError): FailureKind {
  if (CONTEXT_REASONS.has(reason) || words.startsWith('Prompt is too long') || status === 413) return 'context'
  // Claude Code 2.1.197 has no code for this error. The API would refuse the same history again.
  if (/tool use concurrency issues/.test(words)) return 'thread-lost'
  // The API says this after a change of account: another account signed the history.
  if (/invalid.{0,4}(?:signature|data).{0,4}in.{0,4}(?:redacted_)?thinking/i.test(words)) return 'thread-lost'
  if (/thinking.{0,4}blocks.{0,80}cannot be modified/i.test(words)) return 'thread-lost'
  return KIND_BY_CODE.get(code) ?? KIND_BY_ERROR.get(error) ?? kindByStatus(status, words)
}

const CONTEXT_REASONS = new Set(['prompt_too_long', 'blocking_limit', 'rapid_refill_breaker'])

const KIND_BY_CODE = new Map<string, FailureKind>([
  ...kindsFor('usage_limit_reached model_requires_usage_credits', 'rate-limit'),
  ...kindsFor('connection_failed no_response stream_idle_timeout computer_slept network_edge_blocked', 'network'),
  ...kindsFor('stored_login_refused provider_credentials gateway_signin_required gateway_session_expired', 'login'),
  ...kindsFor('api_key_auth_disabled org_disabled_credential invalid_credential_header', 'login'),
  ...kindsFor('claude_code_version_too_old effort_requires_thinking advisor_incompatible', 'setup'),
  ...kindsFor('long_context_credits_required tls_untrusted_ca gateway_content_type', 'setup'),
  ['autocompact_thrashing', 'context'],
  ['tool_history_mismatch', 'thread-lost'],
])

const KIND_BY_ERROR = new Map<string, FailureKind>([
  ...kindsFor('authentication_failed oauth_org_not_allowed account_on_hold verification_required', 'login'),
  ...kindsFor('billing_error cloud_credential_error', 'login'),
  ['rate_limit', 'rate-limit'],
  ['overloaded', 'overloaded'],
  ['model_not_found', 'setup'],
])

function kindsFor(names: string, kind: FailureKind): [string, FailureKind][] {
  return names.split(' ').map(name => [name, kind])
}

/** Claude Code calls a lost connection `server_error` at the end of a turn, and `unknown` while it retries. */
function kindByStatus(status: number | null, words: string): FailureKind {
  if (status === null) return words === '' || CONNECTION_ERRORS.test(words) ? 'network' : 'other'
  if (status === 429) return 'rate-limit'
  if (status === 401 || status === 402 || status === 403) return 'login'
  if (status === 408) return 'network'
  return status >= 500 ? 'overloaded' : 'other'
}

const CONNECTION_ERRORS =
  /E(?:CONN\w+|NOTFOUND|AI_AGAIN|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH)|unable to connect|can't reach|connection|timed? ?out/i

const LOGIN_COMMAND = 'claude auth login'

/** Returns the one thing a person has to do about a failure, or null when it passes by itself or nobody can help. */
function remedyFor(kind: FailureKind, error: ApiError): string | null {
  if (kind === 'login') return loginRemedy(error)
  return kind === 'setup' ? setupRemedy(error) : null
}

function loginRemedy({ error, status, words }: ApiError): string {
  if (error === 'billing_error' || status === 402) return 'add credit to the account of this API key, or use another'
  if (error === 'cloud_credential_error') return "renew the cloud provider's credentials in its environment"
  if (/api key/i.test(words) && !/use an anthropic api key/i.test(words)) return 'give it a valid ANTHROPIC_API_KEY'
  return LOGIN_COMMAND
}

function setupRemedy({ error, code }: ApiError): string | null {
  if (error === 'model_not_found') return 'choose another model with --model'
  return code === 'claude_code_version_too_old' ? 'claude update' : null
}

/** The facts about a failed request to the model, or about the turn that it ended. */
export interface ApiError {
  /** The program's name for the error: `rate_limit`, `server_error`… */
  readonly error: string
  /** A finer name, which Claude Code 2.1.325 gives to some errors. */
  readonly code?: string
  /** The HTTP status, or null if there was no answer. */
  readonly status: number | null
  /** The `terminal_reason` of the turn. */
  readonly reason?: string
  readonly words: string
  readonly resetAt?: number | null
}
