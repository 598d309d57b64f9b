import { describe, expect, test } from 'vitest'
import type { Item } from './conversation.ts'
import { ScriptPlayer } from './script-player.ts'
import type { Script } from './script.ts'

const user = (text: string): Item => ({ kind: 'user', text })
const said = (text: string): Item => ({ kind: 'said', text })
const result = (id: string): Item => ({ kind: 'result', id, text: 'aborted' })

function next(playing: ScriptPlayer, ...items: Item[]): unknown {
  return playing.next({ model: 'm', isStreamed: true, tools: [], items }).answer
}

describe('a script by position', () => {
  test('gives its answers in order, whatever the conversation says, and then is done', () => {
    const playing = new ScriptPlayer([{ say: 'a', times: 2 }, { status: 500 }])
    const given = [1, 2, 3, 4, 5].map(() => next(playing, user('hi')))
    expect(given).toEqual([
      { say: 'a', times: 2 },
      { say: 'a', times: 2 },
      { status: 500 },
      { say: 'Done.' },
      { say: 'Done.' },
    ])
  })

  test('can repeat its last answer for ever', () => {
    const playing = new ScriptPlayer([{ hang: true, times: 'ever' }, { say: 'never' }])
    const hang = { hang: true, times: 'ever' }
    expect([1, 2, 3].map(() => next(playing))).toEqual([hang, hang, hang])
  })
})

describe('a script by conversation', () => {
  const TASK: Script = {
    task: [{ shell: 'one' }, { shell: ['two', 'too'] }, { say: 'All done.' }],
    messages: [{ on: '^add', do: [{ shell: 'add' }, { say: 'Added.' }] }],
  }
  const finished = [user('go'), result('call_0_0'), result('call_1_0'), result('call_1_1'), said('All done.')]

  test('repeats a call that has no result', () => {
    const playing = new ScriptPlayer(TASK)
    expect(next(playing, user('go'))).toEqual({ shell: 'one' })
    expect(next(playing, user('go'))).toEqual({ shell: 'one' })
    expect(next(playing, user('go'), result('call_0_0'), result('call_1_1'))).toEqual({ shell: ['two', 'too'] })
  })

  test('continues in a new process at the first missing step', () => {
    expect(next(new ScriptPlayer(TASK), user('go'), result('call_0_0'), user('go on'))).toEqual({
      shell: ['two', 'too'],
    })
  })

  test('repeats a text that the program did not receive to its end', () => {
    expect(next(new ScriptPlayer(TASK), ...finished.slice(0, 4), said('All'), user('go on'))).toEqual({
      say: 'All done.',
    })
  })

  test('acknowledges a message without a matching rule', () => {
    expect(next(new ScriptPlayer(TASK), ...finished, user('thanks '.repeat(20)))).toEqual({
      say: `Noted: ${'thanks '.repeat(20).slice(0, 60)}`,
    })
  })

  test('runs the steps of a message each time it comes', () => {
    const once = [...finished, user('add it'), result('call_m1_0_0'), said('Added.')]
    expect(next(new ScriptPlayer(TASK), ...finished, user('add it'))).toEqual({ shell: 'add' })
    expect(next(new ScriptPlayer(TASK), ...once.slice(0, -1))).toEqual({ say: 'Added.' })
    expect(next(new ScriptPlayer(TASK), ...once, user('add it'))).toEqual({ shell: 'add' })
  })

  test('returns to the task after a message in between', () => {
    const begun = [user('go'), result('call_0_0'), user('add it'), result('call_m1_0_0'), said('Added.'), user('go on')]
    expect(next(new ScriptPlayer(TASK), ...begun)).toEqual({ shell: ['two', 'too'] })
  })

  test('continues a message whose steps were interrupted', () => {
    const broken = [...finished, user('add it'), result('call_m1_0_0'), user('go on')]
    expect(next(new ScriptPlayer(TASK), ...broken)).toEqual({ say: 'Added.' })
  })

  test('gives each failure once, because a conversation does not show it', () => {
    const playing = new ScriptPlayer({ task: [{ status: 429, times: 2 }, { shell: 'one' }, { drop: true }] })
    const begin = [1, 2, 3].map(() => next(playing, user('go')))
    expect(begin).toEqual([{ status: 429, times: 2 }, { status: 429, times: 2 }, { shell: 'one' }])
    expect(next(playing, user('go'), result('call_2_0'))).toEqual({ drop: true })
    expect(next(playing, user('go'), result('call_2_0'))).toEqual({ say: 'Done.' })
  })

  test('derives call ids from their position, so that they are the same after a crash', () => {
    const choice = new ScriptPlayer(TASK).next({
      model: 'm',
      isStreamed: true,
      tools: [],
      items: [user('go'), result('call_0_0')],
    })
    expect([0, 1].map(choice.callName)).toEqual(['call_1_0', 'call_1_1'])
  })
})
