import type { FailureKind } from '../../../core/failure.ts'
import type { Trouble } from './trouble.ts'

const LOGIN = 'claude auth login'

/** The one thing a person has to do about a failure; null when it passes by itself or nobody can. */
export function remedyFor(kind: FailureKind, trouble: Trouble): string | null {
  if (kind === 'login') return loginRemedy(trouble)
  return kind === 'setup' ? setupRemedy(trouble) : null
}

function loginRemedy({ error, status, words }: Trouble): string {
  if (error === 'billing_error' || status === 402) return 'add credit to the account of this API key, or use another'
  if (error === 'cloud_credential_error') return "renew the cloud provider's credentials in its environment"
  if (/api key/i.test(words) && !/use an anthropic api key/i.test(words)) return 'give it a valid ANTHROPIC_API_KEY'
  return LOGIN
}

function setupRemedy({ error, code }: Trouble): string | null {
  if (error === 'model_not_found') return 'choose another model with --model'
  return code === 'claude_code_version_too_old' ? 'claude update' : null
}
