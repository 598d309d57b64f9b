import { expect, test } from 'vitest'
import { classifyApiError } from './api-error.ts'

const kindOf = (words: string): string => classifyApiError({ error: 'invalid_request', status: 400, words }).kind

test.each([
  'API Error: 400 {"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid `signature` in `thinking` block"},"request_id":"req_1"}',
  'API Error: 400 messages.3.content.0: Invalid `signature` in `thinking` block',
  'Invalid signature in thinking block',
  'invalid "signature" in "thinking" block',
  'API Error: 400 {"message":"messages.1.content.0: Invalid \\"signature\\" in \\"thinking\\" block"}',
  'messages.5.content.1: Invalid `data` in `redacted_thinking` block',
  'messages.7.content.2: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.',
])('a signature of another account means a lost thread: %s', words => {
  expect(kindOf(words)).toBe('thread-lost')
})

test('other refusals do not mean a lost thread, nor does a long text without an end', () => {
  expect(kindOf('API Error: 400 thinking.budget_tokens: Input should be greater than or equal to 1024')).toBe('other')
  expect(kindOf('invalid signature of the request')).toBe('other')
  const begun = performance.now()
  kindOf('invalid `signature` thinking '.repeat(100_000))
  expect(performance.now() - begun).toBeLessThan(2_000)
})
