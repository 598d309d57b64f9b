import { expect, test } from 'vitest'
import { type ReadResult, readAll } from '../../../../testkit/agents/read-all.ts'
import { readLine } from './parse-output.ts'

test('an answer is the turn result only when it follows the last tool call', () => {
  const said = '{"type":"item.completed","item":{"id":"0","type":"agent_message","text":"I will look."}}'
  const toolStarted = '{"type":"item.started","item":{"id":"1","type":"command_execution","command":"ls"}}'
  const end = '{"type":"turn.completed","usage":{}}'
  expect(word([said, end])).toEqual({ ok: true, text: 'I will look.' })
  expect(word([said, toolStarted, end])).toMatchObject({ ok: false, failure: { kind: 'empty' } })
  expect(word([said, toolStarted, said, end])).toEqual({ ok: true, text: 'I will look.' })
})

test('readLine reports an unknown event and continues', () => {
  const lines = [
    '{"type":"turn.paused","why":null}',
    '{"type":"item.completed","item":{"id":7,"type":"dream"}}',
    '{"type":"item.completed"}',
    '{"type":"item.started","item":{"type":"file_change","changes":{"a":1},"status":[]}}',
    '{"type":"turn.completed"}',
    '{"type":"turn.failed","error":"odd"}',
    '{"no":"type"}',
    '[1,2]',
    'plain words',
    '',
  ]
  const { observations, transcript } = readLines(...lines)
  expect(observations.flatMap(seen => (seen.type === 'unknown' ? seen.what : []))).toEqual([
    'turn.paused',
    'item/dream',
    'item/',
    'an event without a type',
  ])
  expect(transcript).toContain('plain words\n')
})

test('readLine shows a plan in one line', () => {
  const items = [
    { text: 'look', completed: true },
    { text: 'fix', completed: false },
  ]
  const { transcript } = readLines({ type: 'item.started', item: { id: 'item_1', type: 'todo_list', items } })
  expect(transcript).toBe('── plan: 1 of 2 done, next fix\n')
})

test('readLine shows a command without the shell around it', () => {
  const summary = (command: string): string | undefined => {
    const item = { id: '1', type: 'command_execution', command }
    const [, seen] = readLines({ type: 'item.started', item }).observations
    return seen?.type === 'tool-started' ? seen.summary : undefined
  }
  expect(summary("/bin/bash -lc 'ls -l'")).toBe('ls -l')
  expect(summary('/usr/bin/zsh -lc "echo \\"\\$HOME\\""')).toBe('echo "$HOME"')
  expect(summary('bash -lc ls')).toBe('ls')
  expect(summary(`/bin/bash -lc 'it'"'"'s'`)).toBe(`'it'"'"'s'`)
  expect(summary('make all')).toBe('make all')
})

function readLines(...lines: (string | object)[]): ReadResult {
  return readAll((line, memory) => readLine(line, memory, 0), lines)
}

function word(lines: readonly string[]): unknown {
  const last = readLines(...lines).observations.at(-1)
  return last?.type === 'finished' ? last.word : undefined
}
