import { expect, test } from 'vitest'
import { paintWith } from '../screen/paint.ts'
import { exitStatusOf } from './exit-status.ts'
import { aSession, anEnded } from './fixture.ts'
import { stateLine } from './state.ts'

test('a state is told by symbol and word, with its evidence, and text from outside cannot paint', () => {
  const session = anEnded({ outcome: 'failed', reason: 'the agent said: \u001b[31mno\u001b[0m\nway' })
  expect(stateLine(session, paintWith(false))).toBe('✖ failed demo-fix-auth: the agent said: no way')
})

test.each([
  [aSession(), 0],
  [anEnded(), 0],
  [anEnded({ outcome: 'failed', exitCode: 7 }), 7],
  [anEnded({ outcome: 'failed', exitCode: null, signal: 'SIGSEGV' }), 139],
  [anEnded({ outcome: 'failed', exitCode: 0 }), 1],
  [anEnded({ outcome: 'stopped', exitCode: 130 }), 130],
  [anEnded({ outcome: 'stopped', exitCode: null, signal: 'SIGKILL' }), 1],
  [anEnded({ outcome: 'gave-up', exitCode: 9 }), 9],
  [anEnded({ outcome: 'gave-up', exitCode: null, signal: 'SIGKILL' }), 137],
])('the outcome becomes an exit code (%#)', (session, expected) => {
  expect(exitStatusOf(session)).toBe(expected)
})
