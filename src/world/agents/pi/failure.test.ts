import { expect, test } from 'vitest'
import { classifyError } from './failure.ts'

test.each([
  ['rate-limit', '429 Rate limit reached for gpt-5'],
  ['rate-limit', '{"error":{"code":429,"message":"Resource has been exhausted","status":"RESOURCE_EXHAUSTED"}}'],
  ['rate-limit', 'You have hit your ChatGPT usage limit (plus plan). Try again in ~45 min.'],
  ['rate-limit', '400: {"error":{"type":"insufficient_quota","message":"You exceeded your current quota"}}'],
  ['rate-limit', 'Throttling error: Too many tokens, please wait before trying again.'],
  ['login', '401 Incorrect API key provided: dummy.'],
  ['login', '403: {"message":"You do not have access to this resource."}'],
  ['login', `Authentication failed for "openai-codex". Run '/login openai-codex' to re-authenticate.`],
  ['context', '400 Your input exceeds the context window of this model.'],
  ['context', 'prompt is too long: 213462 tokens > 200000 maximum'],
  ['context', "400 This model's maximum context length is 8192 tokens. However, you requested about 9000 tokens"],
  ['context', '413 {"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}'],
  ['overloaded', '529 Overloaded'],
  ['overloaded', '500: {"message":"The server had an error","code":"500"}'],
  ['overloaded', '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'],
  ['network', 'terminated'],
  ['network', 'Connection error.'],
  ['network', 'fetch failed'],
  ['network', 'Request timed out.'],
  ['network', 'getaddrinfo ENOTFOUND api.openai.com'],
  ['network', 'Anthropic stream ended before message_stop'],
  ['setup', '404 The model `x` does not exist'],
  ['other', '400 Unsupported value'],
])('%s: %s', (kind, message) => {
  expect(classifyError(message, null).kind).toBe(kind)
})

test('a limit ends when the provider says so, counted from the time of the message', () => {
  const at = 1_000_000
  const resetAt = (message: string): number | null => classifyError(message, at).resetAt
  expect(resetAt('429 Please try again in 2s.')).toBe(at + 2000)
  expect(resetAt('429 Please try again in 6m30.5s. Visit …')).toBe(at + 390_500)
  expect(resetAt('You have hit your ChatGPT usage limit (plus plan). Try again in ~45 min.')).toBe(at + 45 * 60_000)
  expect(resetAt('Server requested 3600s retry delay (max: 60s). 429 …')).toBe(at + 3_600_000)
  expect(resetAt('429 Quota exceeded. Please retry in 32.5s.')).toBe(at + 32_500)
  expect(resetAt('429 Slow down')).toBeNull()
  expect(resetAt('401 Try again in 2s.')).toBeNull()
  expect(classifyError('429 Please try again in 2s.', null).resetAt).toBeNull()
})

test('the text is readable for a person, and a remedy exists where only a person can help', () => {
  expect(classifyError('401: {"error":{"message":"Invalid key","type":"x"}}', null)).toEqual({
    kind: 'login',
    text: '401: Invalid key',
    resetAt: null,
    remedy: "start pi and type /login, or set the API key of the model's provider",
  })
  expect(classifyError('429 {"error": not JSON', null).text).toBe('429 {"error": not JSON')
  expect(classifyError('402 Insufficient balance', null).remedy).toContain('balance')
})
