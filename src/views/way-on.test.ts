import { expect, test } from 'vitest'
import type { SessionView } from '../api/contract/session-view.ts'
import { aSession, anEnded } from '../cli/session/fixture.ts'
import { isResumable, wayOn } from './way-on.ts'

test.each<[string, SessionView, string | null]>([
  [
    'its folder was moved',
    aSession({ phase: 'blocked', pid: null, cwd: '/gone', reason: 'waiting for you: its folder /gone is gone' }),
    'oneshot resume demo-fix-auth --cwd DIR',
  ],
  ['runs', aSession(), null],
  ['rests', aSession({ phase: 'resting', pid: null }), 'oneshot resume demo-fix-auth'],
  ['waits for a login', aSession({ phase: 'blocked', pid: null }), 'oneshot resume demo-fix-auth'],
  ['asks on a terminal', aSession({ phase: 'blocked', mode: 'tty' }), 'oneshot attach demo-fix-auth'],
  ['asks where nobody can answer', aSession({ phase: 'blocked' }), null],
  ['was stopped', anEnded({ outcome: 'stopped' }), 'oneshot resume demo-fix-auth'],
  ['failed', anEnded({ outcome: 'failed' }), 'oneshot resume demo-fix-auth'],
  ['gave up', anEnded({ outcome: 'gave-up' }), 'oneshot resume demo-fix-auth'],
  ['is done', anEnded(), null],
  [
    'is done, and has something unread',
    anEnded({ messages: { accepted: 2, confirmed: 1 } }),
    'oneshot resume demo-fix-auth',
  ],
  ['is a command that failed', anEnded({ agent: 'command', outcome: 'failed' }), null],
])('a session that %s', (_, session, way) => {
  expect(wayOn(session)).toBe(way)
  expect(isResumable(session)).toBe(way?.includes('resume') ?? false)
})
