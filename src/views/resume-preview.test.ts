import { expect, test } from 'vitest'
import { testThreadId } from '../../testkit/core/ids.ts'
import { createSession } from '../core/session/create.ts'
import type { Session } from '../core/session/session-state.ts'
import { makeSpec } from '../../testkit/in-memory/simulation.ts'
import { buildResumePreview } from './resume-preview.ts'

const { session } = createSession(makeSpec({ agent: 'talker' }), { hasPrompt: true })
const read: Session = {
  ...session,
  messages: session.messages.map(message => ({ ...message, confirmedAt: 1 })),
  thread: { ...session.thread, id: testThreadId('t-1') },
}
const ended = (outcome: 'done' | 'stopped'): Session['phase'] => ({
  name: 'ended',
  at: 1,
  outcome,
  reason: '',
  trouble: null,
})

test.each([
  ['continues the conversation', { ...read, phase: ended('stopped') }, true, 'attempt 2 continues that conversation'],
  [
    'tries a lost conversation once more',
    { ...read, phase: ended('stopped') },
    false,
    /once more, or begins a new one/,
  ],
  [
    'begins with the prompt if the agent has read nothing',
    { ...session, phase: ended('stopped') },
    false,
    /starts with the first prompt/,
  ],
  ['does nothing when the session is done', { ...read, phase: ended('done') }, true, /^nothing: it is done/],
  ['does not start a command twice', { ...read, messages: [], phase: ended('stopped') }, null, /^nothing: a command/],
  ['does not touch a session that continues by itself', read, true, /continues by itself/],
] as const)('a resume %s', (_, given, hasThread, next) => {
  expect(buildResumePreview(given, hasThread, 10_000).next).toMatch(next)
})

test('the preview lists the findings', () => {
  const rich: Session = {
    ...read,
    saved: { ...read.saved, last: { number: 3, commit: 'c', at: 4_000, trigger: 'stop' } },
    tasks: [
      { id: '1', title: 'first', state: 'done', source: 'agent' },
      { id: '2', title: 'second', state: 'open', source: 'agent' },
    ],
  }
  expect(buildResumePreview(rich, false, 10_000).found).toEqual([
    'its conversation t-1, whose record is gone',
    'checkpoint 3 (stop), made 6 s ago',
    '1 of 2 tasks open: second',
  ])
})

test('the preview of a loop names the next task, and no conversation', () => {
  const loop: Session = {
    ...read,
    phase: ended('stopped'),
    spec: { ...read.spec, agent: 'ralph' },
    tasks: [
      { id: '1', title: 'first', state: 'done', source: 'agent' },
      { id: '2', title: 'second', state: 'open', source: 'agent' },
      { id: '3', title: 'third', state: 'doing', source: 'agent' },
    ],
  }
  expect(buildResumePreview(loop, false, 10_000)).toEqual({
    found: ['1 of 3 tasks done'],
    next: 'task 3 continues: third',
  })
  expect(buildResumePreview({ ...loop, tasks: loop.tasks.slice(0, 2) }, false, 10_000).next).toBe(
    'task 2 is next: second',
  )
})
