import { expect, test } from 'vitest'
import type { Observation } from '../../../ports/agent.ts'
import { readLine } from './parse-output.ts'

test('readLine reports an unknown event by name and continues', () => {
  expect(readLine('{"type":"agent_dreams","of":["sheep"]}', {})).toEqual(unknown('agent_dreams'))
  expect(readLine('{"type":"constructor"}', {})).toEqual(unknown('constructor'))
  expect(readLine('{"type":"message_end","message":{"role":"prophet"}}', {})).toEqual(unknown('message_end/prophet'))
})

test.each(['null', '[]', '7', '{}', '{"type":7}', 'plain words', '{"type":"agent_end"', '\u001b[31mplain words'])(
  'readLine shows a line that is not an event as it is: %s',
  line => {
    const text = `${line.replace('\u001b[31m', '')}\n`
    expect(readLine(line, {})).toEqual({ observations: [], text })
  },
)

test('readLine survives empty events and events with wrong fields', () => {
  const types = ['session', 'agent_start', 'agent_end', 'message_end', 'auto_retry_start', 'compaction_end']
  const inside = [{}, { message: 7, messages: 7, result: 7, args: 7, usage: 'x' }, { messages: [null, { role: 7 }] }]
  for (const type of [...types, 'compaction_start', 'tool_execution_start', 'tool_execution_end']) {
    for (const fields of inside) expect(() => readLine(JSON.stringify({ type, ...fields }), {})).not.toThrow()
  }
})

test.each([
  ['stop', '', 'empty'],
  ['aborted', 'half an answer', 'other'],
  ['length', 'half an answer', 'other'],
  ['toolUse', 'I will look', 'other'],
  ['error', 'half an answer', 'other'],
  ['deferred', 'later', 'other'],
  ['constructor', 'I build', 'other'],
])('an answer that ended with %s and “%s” is not a success', (stopReason, text, kind) => {
  const message = { role: 'assistant', stopReason, content: [{ type: 'text', text }] }
  expect(wordAfter([message])).toMatchObject({ ok: false, failure: { kind } })
})

test('the last answer counts, whatever comes around it', () => {
  const answer = { role: 'assistant', stopReason: 'stop', content: [{ type: 'text', text: 'Done.' }] }
  const before = { ...answer, stopReason: 'error', errorMessage: 'terminated' }
  expect(wordAfter([before, answer, { role: 'custom' }])).toEqual({ ok: true, text: 'Done.' })
  expect(wordAfter([])).toMatchObject({ ok: false, failure: { kind: 'empty' } })
})

test('a run after the first one begins a turn; the first run does not', () => {
  const start = '{"type":"agent_start"}'
  expect(readLine(start, {}).observations).toEqual([])
  const { memory = {} } = readLine('{"type":"agent_end","messages":[]}', {})
  expect(readLine(start, memory)).toEqual({
    observations: [{ type: 'began' }],
    text: null,
    memory: { hasEnded: false, writing: [] },
  })
})

test('a model without a price costs an unknown amount', () => {
  const usage = { input: 10, output: 2, cacheRead: 5, cacheWrite: 1, cost: { total: 0 } }
  const line = JSON.stringify({ type: 'message_end', message: { role: 'assistant', content: [], usage } })
  const spending = { input: 16, cached: 5, output: 2, usd: null, turns: 1 }
  expect(readLine(line, {}).observations).toEqual([{ type: 'spent', scope: 'step', spending }])
})

function unknown(what: string): ReturnType<typeof readLine> {
  return { observations: [{ type: 'unknown', what }], text: null }
}

function wordAfter(messages: unknown[]): unknown {
  const { observations } = readLine(JSON.stringify({ type: 'agent_end', messages }), {})
  return observations.find((item): item is Extract<Observation, { type: 'finished' }> => item.type === 'finished')?.word
}
