import { testThreadId } from '../../../testkit/core/ids.ts'
import { newAttempt } from '../../core/session/attempt.ts'
import { expect, test } from 'vitest'
import type { Session } from '../../core/session/session-state.ts'
import { makePageData, makeSession, at } from '../../../testkit/views/page-data.ts'
import { renderStatus } from './status-page.ts'

test('the page of a running session shows all known facts', () => {
  const session: Session = {
    ...makeSession({}, { model: 'opus', supervision: { maxTime: 18_000_000 } }),
    phase: { name: 'running', since: at(5) },
    restartCount: 1,
    thread: { ...makeSession().thread, id: testThreadId('5f2c') },
    attempt: {
      ...newAttempt(2, null),
      activity: {
        tools: [{ id: '1', tool: 'Bash', summary: 'npm test', since: at(50) }],
        editedAt: at(40),
        retrying: null,
      },
    },
    saved: { ...makeSession().saved, last: { number: 7, commit: 'c0ffee', at: at(41), trigger: 'edit' } },
    tasks: [
      { id: '1', title: 'find the bug', state: 'done', source: 'agent' },
      { id: '2', title: 'fix it', state: 'doing', source: 'agent' },
      { id: '3', title: 'test it', state: 'open', source: 'user' },
    ],
  }
  const events = [
    { at: at(0), type: 'session.created' },
    { at: at(41), type: 'session.noted', note: 'two\nlines \u001b[31min red' },
  ] as const
  expect(
    renderStatus(makePageData(session, { events, lastWords: 'I run the tests.' })),
  ).toBe(`# ● running claude-fix-auth: restarted 1 time

- goal: fix the login
- agent: claude, headless, opus
- directory: /home/dev/project
- thread: 5f2c
- attempt: 2 (1 restart)
- accepted: 2026-11-15T10:00:00.000Z
- since: 2026-11-15T10:00:05.000Z
- doing: Bash npm test
- last edit: 2026-11-15T10:00:40.000Z
- last words: I run the tests.
- last checkpoint: 7 (edit), 2026-11-15T10:00:41.000Z
- tasks: 2 open of 3: fix it; test it
- messages: 1 not read yet
- deadline: 2026-11-15T15:00:00.000Z

Next: \`oneshot attach claude-fix-auth\`

## Last events

- 2026-11-15T10:00:00.000Z accepted
- 2026-11-15T10:00:41.000Z two lines in red

oneshot wrote this page at 2026-11-15T11:00:00.000Z, when something changed. The present state: \`oneshot status claude-fix-auth\`
`)
})

test.each<[string, Session['phase'], string[]]>([
  [
    'waits for its user',
    { name: 'blocked', since: at(9), question: 'log in, please', trouble: 'login' },
    [
      '# ▲ blocked claude-fix-auth: waiting for you: log in, please',
      '- since: 2026-11-15T10:00:09.000Z',
      '- waits for: you: log in, please',
      'Next: `oneshot resume claude-fix-auth`',
    ],
  ],
  [
    'rests',
    { name: 'resting', since: at(9), until: at(99), reason: 'usage limit', trouble: 'rate-limit', cause: 'limit' },
    [
      '# ◔ resting claude-fix-auth: usage limit',
      '- since: 2026-11-15T10:00:09.000Z',
      '- waits for: 2026-11-15T10:01:39.000Z, when it continues',
      'Next: `oneshot resume claude-fix-auth`',
    ],
  ],
  [
    'is done',
    { name: 'ended', at: at(77), outcome: 'done', reason: 'exit code 0', trouble: null },
    [
      '# ✔ done claude-fix-auth: exit code 0',
      '- since: 2026-11-15T10:01:17.000Z',
      '- ended: 2026-11-15T10:01:17.000Z',
      'Next: `oneshot log claude-fix-auth`',
    ],
  ],
])('the page of a session that %s says so, and names the next command', (_, phase, lines) => {
  const messages = makeSession().messages.map(message => ({ ...message, confirmedAt: at(2) }))
  const page = renderStatus(makePageData(makeSession({ phase, messages }))).split('\n')
  const shown = page.filter(line => /^#(?!#)|since|waits|ended:|^Next/.test(line))
  expect(shown).toEqual(lines)
})

test('the page stays short with any amount of data, and each fact is one line', () => {
  const tasks = Array.from({ length: 200 }, (_, i) => ({
    id: `${i}`,
    title: `${'long '.repeat(60)}\n# ${i}`,
    state: 'open' as const,
    source: 'user' as const,
  }))
  const events = Array.from(
    { length: 20 },
    () => ({ at: at(1), type: 'session.noted', note: 'x'.repeat(100_000) }) as const,
  )
  const session = makeSession({ tasks }, { title: `a\n# b${'c'.repeat(10_000)}`, cwd: '/tmp/new\nline' })
  const page = renderStatus(makePageData(session, { events, lastWords: 'y'.repeat(9_999) }))
  expect(page.length).toBeLessThan(12_000)
  expect(page.match(/^# /gm)).toHaveLength(1)
  expect(page).toContain('; and 195 more\n')
})
