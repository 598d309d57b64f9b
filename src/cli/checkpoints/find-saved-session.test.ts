import { expect, test } from 'vitest'
import { testSessionId } from '../../../testkit/core/ids.ts'
import { matchByName, singleMatch } from './find-saved-session.ts'

const savedSession = (name: string, sessionId: string) => ({
  name,
  sessionId: testSessionId(sessionId),
  at: '2026-11-15T10:00:00.000Z',
  isResumable: true,
  isAtWork: false,
})
const ALL = [
  savedSession('command-cmd', 'aa'),
  savedSession('demo-com', 'bb'),
  savedSession('demo-far', 'cc'),
  savedSession('demo-far', 'dd'),
]

test.each([
  ['com', 'bb'],
  ['demo-com', 'bb'],
  ['command', 'aa'],
  ['far', 'cc'],
  ['dd', 'dd'],
])('%s means %s, because a whole name precedes a prefix', (word, id) => {
  expect(singleMatch(matchByName(ALL, word), word, 'origin').sessionId).toBe(id)
})

test('singleMatch refuses an ambiguous or unknown name and says where it searched', () => {
  expect(() => singleMatch(matchByName(ALL, 'demo'), 'demo', 'origin')).toThrow(
    'there are checkpoints of 2 sessions on origin: demo-com, demo-far',
  )
  expect(() => singleMatch(matchByName(ALL, 'x'), 'x', 'origin')).toThrow('there are no checkpoints of x on origin')
  expect(() => singleMatch([], undefined, undefined)).toThrow(
    'there are no checkpoints of any session in this repository',
  )
})
