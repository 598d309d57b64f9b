import { expect, test } from 'vitest'
import { eventInOutput, parseObject, jsonInOutput } from './tolerant-json.ts'

const long = `begin${'a'.repeat(1_000_000)}end`

test('jsonInOutput cuts very long texts at any depth to their ends, and leaves the rest unchanged', () => {
  const line = JSON.stringify({ type: 'x', text: long, list: [1, { text: long, flag: true }], short: 'as it is' })
  const cut = expect.stringMatching(/^begina{131067}…a{131069}end$/) as unknown
  const expected = { type: 'x', text: cut, list: [1, { text: cut, flag: true }], short: 'as it is' }
  expect(jsonInOutput(line)).toEqual(expected)
  expect(eventInOutput(line)).toEqual(expected)
})

test('parseObject keeps the whole texts of a record, because a prompt may be long', () => {
  expect(parseObject(JSON.stringify({ text: long }))).toEqual({ text: long })
})

test('eventInOutput reads a very deeply nested event', () => {
  const deep = 200_000
  const line = `{"type":"x","a":${'['.repeat(deep)}${']'.repeat(deep)}}`
  expect(eventInOutput(line)?.type).toBe('x')
})
