import type { Refusal } from '../script.ts'
import { type ErrorResponse, retryHeader } from './dialect.ts'

/** Renders an error response for both OpenAI dialects. */
export function errorResponse(refusal: Refusal): ErrorResponse {
  const { status, resetAt, message } = refusal
  const headers = retryHeader(refusal)
  if (resetAt !== undefined) return { status, headers, body: usageLimit(resetAt, message) }
  const [type, code, usual] = KINDS[status] ?? ['server_error', null, 'The server had an error.']
  return { status, headers, body: failure({ type, code, message: message ?? usual }) }
}

export const overflow: ErrorResponse = {
  status: 400,
  headers: {},
  body: failure({
    type: 'invalid_request_error',
    code: 'context_length_exceeded',
    message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
  }),
}

const KINDS: Readonly<Record<number, readonly [type: string, code: string | null, message: string]>> = {
  400: ['invalid_request_error', null, 'Bad request'],
  401: ['invalid_request_error', 'invalid_api_key', 'Incorrect API key provided.'],
  403: ['invalid_request_error', 'forbidden', 'You do not have access to this resource.'],
  404: ['invalid_request_error', 'model_not_found', 'The model does not exist or you do not have access to it.'],
  429: ['requests', 'rate_limit_exceeded', 'Rate limit reached.'],
  529: ['server_error', 'overloaded', 'Overloaded'],
}

function usageLimit(resetAt: number, message = 'The usage limit has been reached'): unknown {
  const resets_in_seconds = Math.max(0, resetAt - Math.floor(Date.now() / 1000))
  return { error: { type: 'usage_limit_reached', message, plan_type: 'plus', resets_at: resetAt, resets_in_seconds } }
}

function failure({ message, type, code }: { message: string; type: string; code: string | null }): unknown {
  return { error: { message, type, param: null, code } }
}
