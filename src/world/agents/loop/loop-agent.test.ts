import { expect, test } from 'vitest'
import { makeLaunchRequest } from '../../../../testkit/agents/fixtures.ts'
import { NO_USAGE } from '../../../core/session/usage.ts'
import type { LoopEvent } from './loop-agent.ts'
import { loopAgent } from './loop-agent.ts'

const agent = loopAgent('ralph', ['node', 'loop'])

test('every process of a loop starts with the same command', () => {
  const argv = ['node', 'loop', '{}']
  expect(agent.planLaunch(makeLaunchRequest({ argv, resume: null })).argv).toEqual(argv)
  expect(agent.planLaunch(makeLaunchRequest({ argv, resume: 't', isContinuation: true })).argv).toEqual(argv)
})

test.each<[LoopEvent, unknown[], string | null]>([
  [{ type: 'loop', thread: 's1' }, [{ type: 'threaded', thread: 's1' }], null],
  [{ type: 'say', text: '✔ 1. it' }, [], '✔ 1. it\n'],
  [{ type: 'spent', spending: NO_USAGE }, [{ type: 'spent', scope: 'thread', spending: NO_USAGE }], null],
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
])('readLine understands %j', (event, observations, text) => {
  expect(agent.readLine?.(JSON.stringify(event), {})).toEqual({ observations, text })
})

test('readLine shows a line that is not an event as it is', () => {
  expect(agent.readLine?.('hello', {})).toEqual({ observations: [], text: 'hello\n' })
})
