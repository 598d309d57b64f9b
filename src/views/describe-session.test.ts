import { expect, test } from 'vitest'
import type { SessionView } from '../api/contract/responses.ts'
import { makeSessionView, makeEndedSessionView } from '../../testkit/views/session-view.ts'
import { isResumable, findNextCommand } from './describe-session.ts'

test.each<[string, SessionView, string | null]>([
  [
    'its folder was moved',
    makeSessionView({ phase: 'blocked', pid: null, cwd: '/gone', reason: 'waiting for you: its folder /gone is gone' }),
    'oneshot resume demo-fix-auth --cwd DIR',
  ],
  ['runs', makeSessionView(), null],
  ['rests', makeSessionView({ phase: 'resting', pid: null }), 'oneshot resume demo-fix-auth'],
  ['waits for a login', makeSessionView({ phase: 'blocked', pid: null }), 'oneshot resume demo-fix-auth'],
  ['asks on a terminal', makeSessionView({ phase: 'blocked', mode: 'tty' }), 'oneshot attach demo-fix-auth'],
  ['asks where nobody can answer', makeSessionView({ phase: 'blocked' }), null],
  ['was stopped', makeEndedSessionView({ outcome: 'stopped' }), 'oneshot resume demo-fix-auth'],
  ['failed', makeEndedSessionView({ outcome: 'failed' }), 'oneshot resume demo-fix-auth'],
  ['gave up', makeEndedSessionView({ outcome: 'gave-up' }), 'oneshot resume demo-fix-auth'],
  ['is done', makeEndedSessionView(), null],
  [
    'is done, and has something unread',
    makeEndedSessionView({ messages: { accepted: 2, confirmed: 1 } }),
    'oneshot resume demo-fix-auth',
  ],
  ['is a command that failed', makeEndedSessionView({ agent: 'command', outcome: 'failed' }), null],
  [
    'died without a supervisor',
    makeSessionView({ phase: 'stopping', isUnsupervised: true, pid: null }),
    'oneshot resume demo-fix-auth',
  ],
])('findNextCommand returns the command for a session that %s', (_, session, way) => {
  expect(findNextCommand(session)).toBe(way)
  expect(isResumable(session) || session.isUnsupervised === true).toBe(way?.includes('resume') ?? false)
})
