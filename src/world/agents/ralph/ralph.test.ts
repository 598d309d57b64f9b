import { expect, test } from 'vitest'
import { orderOf } from '../../../testkit/agents/fixtures.ts'
import { NOTHING_SPENT } from '../../../core/spending.ts'
import type { LoopEvent } from './events.ts'
import { ralph } from './ralph.ts'

const agent = ralph('ralph', ['node', 'loop'])

test('each of its lives is started in the same way', () => {
  const argv = ['node', 'loop', '{}']
  expect(agent.plan(orderOf({ argv, resume: null })).argv).toEqual(argv)
  expect(agent.plan(orderOf({ argv, resume: 't', isContinuation: true })).argv).toEqual(argv)
})

test.each<[LoopEvent, unknown[], string | null]>([
  [{ type: 'loop', thread: 's1' }, [{ type: 'threaded', thread: 's1' }], null],
  [{ type: 'say', text: '✔ 1. it' }, [], '✔ 1. it\n'],
  [{ type: 'spent', spending: NOTHING_SPENT }, [{ type: 'spent', scope: 'thread', spending: NOTHING_SPENT }], null],
  [
    { type: 'tasks', tasks: [{ id: '1', title: 'it', state: 'open' }] },
    [{ type: 'planned', tasks: [{ id: '1', title: 'it', state: 'open' }] }],
    null,
  ],
  [
    { type: 'ended', kind: 'done', text: '2 of 2' },
    [{ type: 'finished', word: { ok: true, text: '2 of 2', isVerdict: true } }],
    '2 of 2\n',
  ],
  [
    { type: 'ended', kind: 'unfinished', text: '1 of 2' },
    [
      {
        type: 'finished',
        word: {
          ok: false,
          text: '1 of 2',
          failure: { kind: 'unfinished', text: '1 of 2', resetAt: null, remedy: null },
        },
      },
    ],
    '1 of 2\n',
  ],
])('%j is understood', (event, observations, text) => {
  expect(agent.read?.(JSON.stringify(event), {})).toEqual({ observations, text })
})

test('what is not an event is shown as it is', () => {
  expect(agent.read?.('hello', {})).toEqual({ observations: [], text: 'hello\n' })
})
