import { expect, test } from 'vitest'
import { makeLaunchRequest } from '../../../../testkit/agents/fixtures.ts'
import { demo } from './demo.ts'
import { DIRECTIVES, parseScript } from './parse-directives.ts'

const agent = demo(['node', 'demo'], '/threads')

test('a thread has the id that oneshot chose, and resumes by it', () => {
  const plan = (resume: string | null, isContinuation = false): readonly string[] =>
    agent.planLaunch(makeLaunchRequest({ argv: ['node', 'demo'], resume, isContinuation })).argv
  expect(plan(null)).toEqual(['node', 'demo', '--thread', 'our-tag'])
  expect(plan('t-1')).toEqual(['node', 'demo', '--resume', 't-1'])
  expect(plan('t-1', true)).toEqual(['node', 'demo', '--resume', 't-1', '--go-on'])
})

test.each([
  [{ type: 'thread.started', thread: 't-1', resumed: false }, [{ type: 'threaded', thread: 't-1' }], null],
  [{ type: 'text', text: 'I begin' }, [], 'I begin\n'],
  [{ type: 'step', step: 2, of: 5 }, [], '• step 2 of 5\n'],
  [{ type: 'tool', tool: 'write', gist: 'a.txt' }, [], '  write a.txt\n'],
  [{ type: 'approval.requested', question: 'may\nI?' }, [{ type: 'asked', question: 'may I?' }], null],
  [{ type: 'approval.answered', answer: 'y' }, [{ type: 'answered' }], '  answered: y\n'],
  [
    { type: 'turn.ended', ok: true, text: 'done', bytes: 5 },
    [{ type: 'finished', word: { ok: true, text: 'done' } }],
    'done\n',
  ],
])('readLine understands %j', (event, observations, text) => {
  expect(agent.readLine?.(JSON.stringify(event), {})).toEqual({ observations, text })
  expect(agent.readLine?.(`${JSON.stringify(event)}\r`, {})).toEqual({ observations, text })
})

test('readLine shows a line that is not an event as it is', () => {
  for (const line of ['hello', '{', '[1]', 'null', '42']) {
    expect(agent.readLine?.(line, {})).toEqual({ observations: [], text: `${line}\n` })
  }
})

test('a prompt directs the demo agent by directives at any position', () => {
  expect(parseScript('please steps=20 delay=100ms write=notes.txt crash=3 hang=4 fail=yes talk=9 litter=yes')).toEqual({
    steps: 20,
    delay: 100,
    crash: 3,
    crashAlways: false,
    hang: 4,
    fail: true,
    write: 'notes.txt',
    ask: null,
    patience: 30_000,
    talk: 9,
    litter: true,
  })
  expect(parseScript('ask="May I?" patience=5s crash=always')).toMatchObject({
    ask: 'May I?',
    patience: 5_000,
    crash: null,
    crashAlways: true,
  })
})

test('without directives the script has five short steps, and parseScript understands every documented directive', () => {
  const plain = parseScript('fix the bug; steps =9, mysteps=7')
  expect(plain).toMatchObject({ steps: 5, delay: 300, crash: null })
  for (const [directive] of DIRECTIVES) expect(parseScript(directive), directive).not.toEqual(parseScript(''))
})
