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
  test('gives one answer after the other, whatever was said, and then is done', () => {
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

  test('may give its last answer for ever', () => {
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

  test('asks again for what has no result', () => {
    const playing = new ScriptPlayer(TASK)
    expect(next(playing, user('go'))).toEqual({ shell: 'one' })
    expect(next(playing, user('go'))).toEqual({ shell: 'one' })
    expect(next(playing, user('go'), result('call_0_0'), result('call_1_1'))).toEqual({ shell: ['two', 'too'] })
  })

  test('goes on in a new process where the last one left off', () => {
    expect(next(new ScriptPlayer(TASK), user('go'), result('call_0_0'), user('go on'))).toEqual({
      shell: ['two', 'too'],
    })
  })

  test('says again what was not heard to its end', () => {
    expect(next(new ScriptPlayer(TASK), ...finished.slice(0, 4), said('All'), user('go on'))).toEqual({
      say: 'All done.',
    })
  })

  test('takes note of a message it knows nothing about', () => {
    expect(next(new ScriptPlayer(TASK), ...finished, user('thanks '.repeat(20)))).toEqual({
      say: `Noted: ${'thanks '.repeat(20).slice(0, 60)}`,
    })
  })

  test('does what a message asks for, each time it is asked', () => {
    const once = [...finished, user('add it'), result('call_m1_0_0'), said('Added.')]
    expect(next(new ScriptPlayer(TASK), ...finished, user('add it'))).toEqual({ shell: 'add' })
    expect(next(new ScriptPlayer(TASK), ...once.slice(0, -1))).toEqual({ say: 'Added.' })
    expect(next(new ScriptPlayer(TASK), ...once, user('add it'))).toEqual({ shell: 'add' })
  })

  test('comes back to the task after a message that came in between', () => {
    const begun = [user('go'), result('call_0_0'), user('add it'), result('call_m1_0_0'), said('Added.'), user('go on')]
    expect(next(new ScriptPlayer(TASK), ...begun)).toEqual({ shell: ['two', 'too'] })
  })

  test('goes on with a message whose answer was broken off', () => {
    const broken = [...finished, user('add it'), result('call_m1_0_0'), user('go on')]
    expect(next(new ScriptPlayer(TASK), ...broken)).toEqual({ say: 'Added.' })
  })

  test('gives each failure once, for a conversation does not show it', () => {
    const playing = new ScriptPlayer({ task: [{ status: 429, times: 2 }, { shell: 'one' }, { drop: true }] })
    const begin = [1, 2, 3].map(() => next(playing, user('go')))
    expect(begin).toEqual([{ status: 429, times: 2 }, { status: 429, times: 2 }, { shell: 'one' }])
    expect(next(playing, user('go'), result('call_2_0'))).toEqual({ drop: true })
    expect(next(playing, user('go'), result('call_2_0'))).toEqual({ say: 'Done.' })
  })

  test('names its calls by their place, so that they are the same after a crash', () => {
    const choice = new ScriptPlayer(TASK).next({
      model: 'm',
      isStreamed: true,
      tools: [],
      items: [user('go'), result('call_0_0')],
    })
    expect([0, 1].map(choice.callName)).toEqual(['call_1_0', 'call_1_1'])
  })
})
