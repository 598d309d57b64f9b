import { expect, test } from 'vitest'
import { makePaint } from '../terminal/colors.ts'
import { exitStatusFor } from './format-session.ts'
import { makeSessionView, makeEndedSessionView } from '../../../testkit/views/session-view.ts'
import { stateLine } from './format-session.ts'

test('stateLine shows a symbol, a word and the reason, and removes control characters from foreign text', () => {
  const session = makeEndedSessionView({ outcome: 'failed', reason: 'the agent said: \u001b[31mno\u001b[0m\nway' })
  expect(stateLine(session, makePaint(false))).toBe('✖ failed demo-fix-auth: the agent said: no way')
})

test.each([
  [makeSessionView(), 0],
  [makeEndedSessionView(), 0],
  [makeEndedSessionView({ outcome: 'failed', exitCode: 7 }), 7],
  [makeEndedSessionView({ outcome: 'failed', exitCode: null, signal: 'SIGSEGV' }), 139],
  [makeEndedSessionView({ outcome: 'failed', exitCode: 0 }), 1],
  [makeEndedSessionView({ outcome: 'stopped', exitCode: 130 }), 130],
  [makeEndedSessionView({ outcome: 'stopped', exitCode: null, signal: 'SIGKILL' }), 1],
  [makeEndedSessionView({ outcome: 'gave-up', exitCode: 9 }), 9],
  [makeEndedSessionView({ outcome: 'gave-up', exitCode: null, signal: 'SIGKILL' }), 137],
])('exitStatusFor maps the outcome to an exit code (%#)', (session, expected) => {
  expect(exitStatusFor(session)).toBe(expected)
})
