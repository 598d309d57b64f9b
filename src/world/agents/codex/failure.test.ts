import { expect, test } from 'vitest'
import { classifyError } from './failure.ts'

test.each([
  'unexpected status 400 Bad Request: {"error":{"message":"The encrypted content gAAAAA…3w== could not be verified.","type":"invalid_request_error","param":null,"code":"invalid_encrypted_content"}}',
  '{"error":{"code":"invalid_encrypted_content","message":"The encrypted content for item rs_68d0 could not be verified. Reason: Encrypted content could not be decrypted or parsed."}}',
  `The encrypted content ${'gAAAA'.repeat(2_000)} could not be verified.`,
  'Encrypted content could not be decrypted or parsed.',
  'The encrypted content for item rs_1 could not be verified. Reason: Encrypted content organization_id did not match the target organization.',
  'Invalid_Encrypted_Content',
])('encrypted reasoning of another account means a lost thread: %.60s', message => {
  expect(classifyError(message, 0)).toMatchObject({ kind: 'thread-lost' })
})

test('a message that only mentions encryption does not mean a lost thread', () => {
  expect(classifyError('cannot read the encrypted disk', 0).kind).toBe('other')
})
