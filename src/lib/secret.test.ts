import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { redactSecrets, HIDDEN, Secret } from './secret.ts'

test('a secret is hidden however it is printed, and known to whoever uses it', () => {
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

test('a text that quotes a secret has it hidden, as it is and as it stands in an address', () => {
  const told = redactSecrets('GET /a%20b%2Fc?key=a b/c: a b/c said no', ['a b/c', ''])
  expect(told).toBe(`GET /${HIDDEN}?key=${HIDDEN}: ${HIDDEN} said no`)
})

test('a longer secret leaves no rest when it begins like a shorter one', () => {
  expect(redactSecrets('token token-42', ['token', 'token-42'])).toBe(`${HIDDEN} ${HIDDEN}`)
})
