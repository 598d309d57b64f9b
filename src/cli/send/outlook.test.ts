import { expect, test } from 'vitest'
import type { MessageView, SessionView } from '../../api/contract/session-view.ts'
import { aSession, anEnded } from '../session/fixture.ts'
import { outlook } from './outlook.ts'

function message(number: number): MessageView {
  const at = '2026-11-15T10:00:00.000Z'
  return { number, state: 'accepted', gist: 'x', acceptedAt: at, deliveredAt: null, confirmedAt: null }
}

const of = (session: SessionView, before = session, ahead: MessageView[] = []): string =>
  outlook({ message: message(4), before, session, ahead }, Date.parse('2026-11-15T10:00:00.000Z'))

test('a message waits for the turn that is under way, and for those before it', () => {
  expect(of(aSession())).toBe('message 4 accepted; it is delivered when the current turn ends')
  const ahead = [message(2), message(3)]
  expect(of(aSession(), aSession(), [message(3)])).toBe('message 4 accepted; it is delivered after message 3')
  expect(of(aSession(), aSession(), ahead)).toBe('message 4 accepted; it is delivered after messages 2, 3')
})

test('a session that had ended is woken', () => {
  expect(of(aSession(), anEnded())).toBe('message 4 accepted; demo-fix-auth starts again and gets it now')
  expect(of(aSession(), anEnded(), [message(3)])).toBe(
    'message 4 accepted; demo-fix-auth starts again and gets it after message 3',
  )
})

test('one that is being ended goes on instead', () => {
  const stopping = aSession({ phase: 'stopping', attempt: 2 })
  expect(of(stopping)).toBe('message 4 accepted; it is delivered as soon as attempt 2, which is ending, is over')
})

test('one that rests or waits for a person says what makes it go on', () => {
  const resting = aSession({ phase: 'resting', pid: null, until: '2026-11-15T10:03:00.000Z' })
  expect(of(resting)).toBe(
    'message 4 accepted; demo-fix-auth rests and continues in 3 min, then it is delivered (at once: oneshot resume demo-fix-auth)',
  )
  const blocked = aSession({ phase: 'blocked', reason: 'waiting for you: log in; codex login', pid: null })
  expect(of(blocked)).toBe(
    'message 4 accepted, but demo-fix-auth is waiting for you: log in; codex login (continue with: oneshot resume demo-fix-auth)',
  )
})
