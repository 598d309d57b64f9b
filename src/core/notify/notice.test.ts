import { withAttempt } from '../session/attempt.ts'
import { expect, test } from 'vitest'
import { makeSpec, type SpecOverrides } from '../../../testkit/in-memory/simulation.ts'
import { notificationOf, environmentOf } from './notification.ts'
import { createSession } from '../session/create.ts'
import type { Event } from '../session/events.ts'
import { hooksOf } from './notice.ts'
import { Mask } from '../../lib/mask/mask.ts'
import { noticesOf, maskNotice } from './notice.ts'
import type { Phase, Session } from '../session/session-state.ts'

const AT = 1_767_312_000_000

function aSession(traits: Partial<Session> = {}, spec: SpecOverrides = {}): Session {
  const { session } = createSession(makeSpec({ agent: 'talker', name: 'talker-fix', title: 'fix it', ...spec }), {
    hasPrompt: spec.agent !== 'mute',
  })
  return { ...session, ...traits }
}

const ended = (outcome: 'done' | 'failed' | 'stopped' | 'gave-up', reason: string): Event => ({
  at: AT,
  type: 'session.ended',
  outcome,
  reason,
})

const stoppedByUser = (reason: string): Event => ({ ...ended('stopped', reason), trouble: 'stopped' }) as Event

function noticeRows(session: Session, event: Event): unknown {
  return noticesOf(session, [event]).map(({ kind, text, command }) => [kind, text, command])
}

test.each<[string, Session, Event, unknown]>([
  ['a good end', aSession(), ended('done', 'exit code 0'), [['done', 'talker-fix is done: exit code 0', null]]],
  [
    'a failure',
    aSession(),
    ended('failed', 'exit code 1'),
    [['failed', 'talker-fix failed: exit code 1', 'oneshot resume talker-fix']],
  ],
  [
    'a failed command, which nobody can resume',
    aSession({}, { agent: 'mute' }),
    ended('failed', 'exit code 1'),
    [['failed', 'talker-fix failed: exit code 1', null]],
  ],
  [
    'giving up',
    aSession(),
    ended('gave-up', '3 restarts did not help'),
    [['gave-up', 'talker-fix gave up: 3 restarts did not help', 'oneshot resume talker-fix']],
  ],
  [
    'a stop by a limit of the user',
    aSession(),
    ended('stopped', 'the time limit of 5 h was reached'),
    [['stopped', 'talker-fix was stopped: the time limit of 5 h was reached', 'oneshot resume talker-fix']],
  ],
  ['a stop by the user', aSession({ wanted: 'stop' }), stoppedByUser('stopped by you (exit code 130)'), []],
  [
    'a stop by another session',
    aSession({ wanted: 'stop', stoppedBy: 'talker-boss' }),
    stoppedByUser('stopped by the session talker-boss'),
    [['stopped', 'talker-fix was stopped: stopped by the session talker-boss', 'oneshot resume talker-fix']],
  ],
  [
    'a hold by another session',
    aSession({ phase: blocked('blocked') }),
    { at: AT, type: 'session.blocked', question: 'held by the session talker-boss', trouble: 'held' },
    [['blocked', 'talker-fix waits for you: held by the session talker-boss', 'oneshot resume talker-fix']],
  ],
  ['a stop of a resting session by the user', aSession(), stoppedByUser('stopped by you while it was resting'), []],
  [
    'a question on a terminal',
    aSession({ phase: blocked('waiting') }, { mode: 'tty' }),
    { at: AT, type: 'session.blocked', question: 'which?' },
    [['blocked', 'talker-fix waits for you: which?', 'oneshot attach talker-fix']],
  ],
  [
    'a missing login',
    withAttempt(aSession({ phase: blocked('blocked') }), { exit: { kind: 'code', code: 1 } }),
    { at: AT, type: 'session.blocked', question: 'not logged in (claude auth login)' },
    [['blocked', 'talker-fix waits for you: not logged in (claude auth login)', 'oneshot resume talker-fix']],
  ],
  [
    'a hold by the user',
    aSession({ phase: blocked('blocked') }),
    { at: AT, type: 'session.blocked', question: 'held by you', trouble: 'held' },
    [],
  ],
  [
    'a question with an immediate answer',
    aSession({ phase: { name: 'running', since: AT } }),
    { at: AT, type: 'session.blocked', question: 'which?' },
    [],
  ],
  [
    'a limit that an older event does not name',
    aSession({ phase: resting('limit') }),
    { at: AT, type: 'session.resting', until: AT + 4_800_000, reason: 'usage limit: 5 hours' },
    [['limit', 'talker-fix rests for 1 h 20 min and then continues: usage limit: 5 hours', null]],
  ],
  [
    'a limit that other events follow in the same step',
    aSession(),
    { at: AT, type: 'session.resting', until: AT + 1_000, reason: 'usage limit', cause: 'limit' },
    [['limit', 'talker-fix rests for 1 s and then continues: usage limit', null]],
  ],
  [
    'a crash from which the session recovers',
    aSession({ phase: resting('limit') }),
    { at: AT, type: 'session.resting', until: AT + 100, reason: 'exit code 1', cause: 'crash' },
    [],
  ],
  [
    'too many restarts',
    aSession(),
    { at: AT, type: 'session.restarting-often', restarts: 4, within: 3_600_000 },
    [['restarting', 'talker-fix restarts too often: 4 restarts within 1 h', 'oneshot log talker-fix']],
  ],
  ['anything else', aSession(), { at: AT, type: 'session.woken' }, []],
])('%s', (_, session, event, notices) => {
  expect(noticeRows(session, event)).toEqual(notices)
})

test('text of others becomes one line, truncated if it is too long', () => {
  const session = aSession({}, { title: 'a\nb \u001b[31mred\u001b[0m $(reboot) "`' })
  const [notice] = noticesOf(session, [ended('failed', `it said:\r\n\u0007\u001b]0;x\u0007 ${'x'.repeat(9_000)}`)])
  expect(notice?.session.title).toBe('a b red $(reboot) "`')
  const masked = notice && maskNotice(notice, new Mask())
  expect(masked?.text).toMatch(/^talker-fix failed: it said: +x+…$/)
  expect(masked?.text.length).toBeLessThan(550)
})

test('the notification, its document and its variables hold all facts of the notice', () => {
  const phase: Phase = { name: 'ended', at: AT, outcome: 'failed', reason: 'exit code 7', trouble: 'crash' }
  const session = withAttempt(aSession({ phase }, { tty: '/dev/pts/3' }), { exit: { kind: 'code', code: 7 } })
  const [notice] = noticesOf(session, [ended('failed', 'exit code 7')])
  const notification = notice && notificationOf([notice], AT)
  const id = `s1-${AT.toString(36)}-failed`
  const document = {
    id,
    event: 'failed',
    at: '2026-01-02T00:00:00.000Z',
    text: 'talker-fix failed: exit code 7',
    command: 'oneshot resume talker-fix',
    outcome: 'failed',
    reason: 'exit code 7',
    exitCode: 7,
    session: { id: 's1', name: 'talker-fix', agent: 'talker', title: 'fix it', cwd: '/' },
  }
  expect(notification).toEqual({
    id,
    heading: 'talker-fix failed',
    text: 'talker-fix failed: exit code 7\nfix it\noneshot resume talker-fix',
    isUrgent: true,
    terminals: ['/dev/pts/3'],
    document,
  })
  expect(notification && environmentOf(notification.document)).toEqual({
    ONESHOT_NOTICE: id,
    ONESHOT_EVENT: 'failed',
    ONESHOT_TEXT: 'talker-fix failed: exit code 7',
    ONESHOT_COMMAND: 'oneshot resume talker-fix',
    ONESHOT_SESSION: 'talker-fix',
    ONESHOT_SESSION_ID: 's1',
    ONESHOT_AGENT: 'talker',
    ONESHOT_CWD: '/',
    ONESHOT_OUTCOME: 'failed',
    ONESHOT_REASON: 'exit code 7',
    ONESHOT_EXIT_CODE: '7',
  })
})

test('each end of a session, also one by the user, calls the hook, and nothing else does', () => {
  const session = aSession({}, { supervision: { onExit: ['/bin/x', 'y'] } })
  const stopped = ended('stopped', 'stopped by you')
  expect(hooksOf(session, [{ at: AT, type: 'session.woken' }, stopped])).toEqual([
    {
      id: `s1-${AT.toString(36)}-on-exit`,
      at: AT,
      argv: ['/bin/x', 'y'],
      outcome: 'stopped',
      reason: 'stopped by you',
      session,
    },
  ])
  expect(hooksOf(aSession(), [stopped])).toEqual([])
})

function blocked(name: 'waiting' | 'blocked'): Phase {
  return { name, since: AT, question: 'which?', trouble: 'approval' }
}

function resting(cause: 'limit' | 'crash'): Phase {
  return { name: 'resting', since: AT, until: AT + 1_000, reason: 'x', trouble: 'crash', cause }
}
