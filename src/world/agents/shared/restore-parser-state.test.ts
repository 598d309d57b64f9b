import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { restoreState as restoreClaude } from '../claude/parser-state.ts'
import { restoreState as restoreCodex } from '../codex/parser-state.ts'
import { readLine as readGeminiLine } from '../gemini/parse-output.ts'
import { restoreState as restoreOpencode } from '../opencode/parser-state.ts'
import { readLine as readPiLine } from '../pi/parse-output.ts'

const FAILED = { ok: false, text: 'no', failure: { kind: 'login', text: 'no', resetAt: null, remedy: 'log in' } }

test('the state of claude that version 0.1.0 stored is read: pending writes, calls of the plan and the turn result', () => {
  const stored = {
    cwd: '/project',
    turns: 3,
    usd: 0.25,
    writing: ['toolu_1 /project/a file.ts'],
    planning: [JSON.stringify(['toolu_2', 'write tests'])],
    word: JSON.stringify(FAILED),
    isHeld: true,
  }
  expect(restoreClaude(stored)).toEqual({
    ...restoreClaude({}),
    ...stored,
    writing: [{ call: 'toolu_1', path: '/project/a file.ts' }],
    planning: [{ call: 'toolu_2', subject: 'write tests' }],
    word: FAILED,
  })
  expect(restoreClaude({ word: JSON.stringify({ ok: true, text: 'done' }) }).word).toEqual({ ok: true, text: 'done' })
})

test('the calls of gemini and pi that version 0.1.0 stored end with their files and tasks', () => {
  const memory = {
    'writing w': 'a.ts',
    'writing other': 'b.ts',
    'planning w': JSON.stringify([{ description: 'write tests', status: 'completed' }]),
  }
  const ended = { type: 'tool-ended', id: 'w' }
  const edited = { type: 'edited', path: 'a.ts' }
  const planned = { type: 'planned', tasks: [expect.objectContaining({ title: 'write tests', state: 'done' })] }
  const gemini = readGeminiLine(JSON.stringify({ type: 'tool_result', tool_id: 'w', status: 'success' }), memory)
  expect(gemini.observations).toEqual([ended, edited, planned])
  expect(gemini.memory).toMatchObject({ writing: [{ call: 'other', path: 'b.ts' }], planning: [] })
  const pi = readPiLine(JSON.stringify({ type: 'tool_execution_end', toolCallId: 'w' }), memory)
  expect(pi.observations).toEqual([ended, edited])
})

test('a field of another form has its initial value, and the other fields keep theirs', () => {
  expect(restoreCodex({ thread: 'abc', said: 7, open: [null] })).toEqual({ ...restoreCodex({}), thread: 'abc' })
  expect(restoreClaude({ word: '{"ok":', turns: 2 })).toEqual({ ...restoreClaude({}), turns: 2 })
})

test('any stored JSON gives a state that reads the same after it is stored again', () => {
  const restorers = [restoreClaude, restoreCodex, restoreOpencode]
  const memories = fc.dictionary(
    fc.constantFrom('thread', 'said', 'word', 'writing', 'planning', 'open', 'usd', 'isHeld', 'resetAt'),
    fc.jsonValue(),
  )
  fc.assert(
    fc.property(memories, memory => {
      for (const restore of restorers) {
        const state = restore(memory)
        expect(restore(JSON.parse(JSON.stringify(state)))).toEqual(JSON.parse(JSON.stringify(state)))
      }
    }),
  )
})
