import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { redactSecrets, HIDDEN, Secret } from './secret.ts'

test('a secret stays hidden however somebody prints it, and reveal returns it', () => {
  const secret = new Secret('tk_4711')
  expect([`${secret}`, String(secret), JSON.stringify({ secret }), inspect({ secret })]).toEqual([
    HIDDEN,
    HIDDEN,
    `{"secret":"${HIDDEN}"}`,
    `{ secret: ${HIDDEN} }`,
  ])
  expect(Object.keys(secret)).toEqual([])
  expect(secret.reveal()).toBe('tk_4711')
})

test('redactSecrets hides a secret in a text, as it is and in its form in an address', () => {
  const redacted = redactSecrets('GET /a%20b%2Fc?key=a b/c: a b/c said no', ['a b/c', ''])
  expect(redacted).toBe(`GET /${HIDDEN}?key=${HIDDEN}: ${HIDDEN} said no`)
})

test('a longer secret that begins like a shorter one leaves no rest', () => {
  expect(redactSecrets('token token-42', ['token', 'token-42'])).toBe(`${HIDDEN} ${HIDDEN}`)
})
