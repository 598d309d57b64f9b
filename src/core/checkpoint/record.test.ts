import { expect, test } from 'vitest'
import { countReadMessages, parseCheckpointRecord, completeMessages } from './record.ts'

const SESSION = {
  name: 'claude-far',
  task: 'far',
  agent: 'claude',
  argv: [],
  autonomy: 'full',
  model: null,
  effort: null,
}
const RECORD = {
  session: SESSION,
  thread: null,
  goal: ['do it'],
  tasks: [],
  lastWord: null,
  state: 'running',
  reason: null,
}

const read = (changes: object, session: object = {}): unknown =>
  parseCheckpointRecord(JSON.stringify({ ...RECORD, session: { ...SESSION, ...session }, ...changes }))

test('the parser reads records of an older version, and drops unknown fields', () => {
  expect(read({ more: 1 }, { more: 2 })).toEqual({
    ...RECORD,
    version: 1,
    session: {
      ...SESSION,
      id: '',
      title: '',
      cwd: '',
      limits: null,
      maxTime: null,
      maxOutput: null,
      memory: null,
      patience: null,
      verify: null,
    },
    spent: null,
    spentInThread: null,
  })
})

test.each([
  [{ goal: 'x' }, {}],
  [{ goal: [1] }, {}],
  [{ goal: Array.from({ length: 2_000 }, () => '') }, {}],
  [{ goal: ['x'.repeat(200_000)] }, {}],
  [{ lastWord: 'x'.repeat(2_000_000) }, {}],
  [{ spent: { input: -1, cached: 0, output: 0, usd: null, turns: 0 } }, {}],
  [{ tasks: [{ id: '1', title: 't', state: 'gone' }] }, {}],
  [{}, { task: '../up' }],
  [{}, { agent: '-x' }],
  [{}, { autonomy: 'more' }],
  [{}, { model: '--settings=x' }],
  [{}, { limits: { usd: 'much' } }],
  [{}, { limits: { usd: 0 } }],
  [{}, { maxTime: 0 }],
  [{}, { maxTime: Number.MAX_SAFE_INTEGER }],
  [{}, { maxOutput: 0 }],
  [{}, { patience: { silence: 1e15 } }],
  [{}, { verify: { git: 1, check: null } }],
])('the parser rejects a record with %j %j', (changes, session) => {
  expect(read(changes, session)).toBeNull()
})

test('completeMessages returns full messages if the record holds truncations of them', () => {
  const record = parseCheckpointRecord(JSON.stringify({ ...RECORD, goal: ['begin…', '…'] }))
  if (record === null) throw new Error('it can be read')
  expect(completeMessages(record, ['begin and end', 'second'])).toEqual(['begin and end', 'second'])
  expect(completeMessages(record, ['other', 'second'])).toEqual(['begin…', '…'])
  expect(completeMessages(record, ['begin and end'])).toEqual(['begin…', '…'])
  expect(completeMessages(record, null)).toEqual(['begin…', '…'])
})

test('messages that a conversation shows count as read, even with a masked secret', () => {
  const heard = ['do it\n', 'You were interrupted. Continue.', 'use hunter2hunter2 now']
  expect(countReadMessages(['do it', 'use ************** now', 'unread'], heard)).toBe(2)
  expect(countReadMessages(['do it', 'unread'], heard)).toBe(1)
  expect(countReadMessages(['unread'], heard)).toBe(0)
})
