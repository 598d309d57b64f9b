import { expect, test } from 'vitest'
import { readAll } from '../../../../testkit/agents/read-all.ts'
import { readLine } from './parse-output.ts'

test('the turn result is the text of the last step', () => {
  const start = { type: 'step_start', part: {} }
  const words = { type: 'text', part: { text: 'Done.' } }
  const end = (reason: string) => ({ type: 'step_finish', part: { reason } })
  expect(wordAfter(start, words, end('tool-calls'))).toBeNull()
  expect(wordAfter(start, words, end('stop'))).toEqual({ ok: true, text: 'Done.' })
  expect(wordAfter(start, words, end('tool-calls'), start, end('stop'))).toMatchObject({ failure: { kind: 'empty' } })
  expect(wordAfter(start, words, end('stop'), start)).toBeNull()
  expect(wordAfter(start, words, end('length'))).toMatchObject({ ok: false, failure: { kind: 'other' } })
})

test('a limit ends when the server says so', () => {
  const resetAt = (data: object): unknown => {
    const error = { name: 'APIError', data: { message: 'slow down', statusCode: 429, ...data } }
    return wordAfter({ type: 'error', timestamp: 1_000, error })
  }
  expect(resetAt({ responseHeaders: { 'retry-after': '60' } })).toMatchObject({ failure: { resetAt: 61_000 } })
  expect(resetAt({ responseHeaders: { 'retry-after-ms': '1500' } })).toMatchObject({ failure: { resetAt: 2_500 } })
  const date = 'Mon, 16 Nov 2026 09:00:00 GMT'
  expect(resetAt({ responseHeaders: { 'retry-after': date } })).toMatchObject({
    failure: { resetAt: Date.parse(date) },
  })
  expect(resetAt({})).toMatchObject({ failure: { kind: 'rate-limit', resetAt: null } })
})

test('classifyError classifies errors without a status by their text', () => {
  const kind = (name: string, message: string): unknown =>
    wordAfter({ type: 'error', error: { name, data: { message } } })
  expect(kind('APIError', 'Cannot connect to API: Unable to connect.')).toMatchObject({ failure: { kind: 'network' } })
  expect(kind('ProviderAuthError', 'no key')).toMatchObject({
    failure: { kind: 'login', remedy: 'opencode auth login' },
  })
  expect(kind('UnknownError', 'Overloaded')).toMatchObject({ failure: { kind: 'overloaded' } })
  expect(kind('MessageAbortedError', 'Aborted')).toMatchObject({ failure: { kind: 'other' } })
  expect(wordAfter({ type: 'error', error: 'odd' })).toMatchObject({ failure: { kind: 'other' } })
})

test('readLine reports an unknown event and continues', () => {
  const lines = [
    '{"type":"session_paused","sessionID":"ses_1"}',
    '{"type":"tool_use","sessionID":7,"part":{"tool":"dream","state":[]}}',
    '{"type":"step_finish","part":null}',
    '{"type":"text"}',
    '{"no":"type"}',
    'plain words',
    '',
  ]
  const { observations, transcript } = readAll(readLine, lines)
  expect(observations.flatMap(seen => (seen.type === 'unknown' ? seen.what : []))).toEqual([
    'session_paused',
    'an event without a type',
  ])
  expect(transcript).toContain('plain words\n')
})

function wordAfter(...events: readonly object[]): unknown {
  const { observations } = readAll(readLine, events)
  const last = observations.findLast(seen => seen.type === 'finished' || seen.type === 'began')
  return last?.type === 'finished' ? last.word : null
}
