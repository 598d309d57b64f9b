import { expect, test } from 'vitest'
import { hasCode, invariant, isDiskFull, Trouble, errorMessage } from './errors.ts'

test('Trouble names the operation and the reason, and keeps the cause', () => {
  const cause = new Error('no more ptys')
  const trouble = new Trouble('opening a pane for fix-auth', cause)
  expect(trouble.message).toBe('opening a pane for fix-auth: no more ptys')
  expect([trouble.cause, trouble.doing, trouble.mayHelpToRetry]).toEqual([cause, 'opening a pane for fix-auth', true])
})

test('a broken invariant throws at once and says so', () => {
  expect(() => invariant([].length > 0, 'nothing is something')).toThrow('this cannot be: nothing is something')
})

test('errorMessage accepts any thrown value, and only errors have codes', () => {
  expect([errorMessage(new Error('a')), errorMessage('b'), errorMessage(undefined)]).toEqual(['a', 'b', 'undefined'])
  const missing = Object.assign(new Error('a'), { code: 'ENOENT' })
  expect([hasCode(missing, 'EACCES', 'ENOENT'), hasCode(missing, 'EACCES'), hasCode('ENOENT', 'ENOENT')]).toEqual([
    true,
    false,
    false,
  ])
})

test('a write beyond the quota counts as a full disk, by the errors of Node 20 for both of its interfaces', () => {
  const direct = Object.assign(new Error('Unknown system error -122, write'), { errno: -122 })
  const promised = Object.assign(new Error('UNKNOWN: unknown error, write'), { errno: -122, code: 'UNKNOWN' })
  const missing = Object.assign(new Error('ENOENT: no such file or directory'), { errno: -2, code: 'ENOENT' })
  expect([direct, promised, new Trouble('saving', direct), missing].map(isDiskFull)).toEqual([true, true, true, false])
})
