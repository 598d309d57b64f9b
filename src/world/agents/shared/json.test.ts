import { expect, test } from 'vitest'
import { eventInOutput, parseObject, jsonInOutput } from './json.ts'

const long = `begin${'a'.repeat(1_000_000)}end`

test('very long texts in output are cut to their ends, wherever they are, and the rest stays as it is', () => {
  const line = JSON.stringify({ type: 'x', text: long, list: [1, { text: long, flag: true }], short: 'as it is' })
  const cut = expect.stringMatching(/^begina{131067}…a{131069}end$/) as unknown
  const expected = { type: 'x', text: cut, list: [1, { text: cut, flag: true }], short: 'as it is' }
  expect(jsonInOutput(line)).toEqual(expected)
  expect(eventInOutput(line)).toEqual(expected)
})

test('a record that is no output keeps its texts in whole, because a prompt may be long', () => {
  expect(parseObject(JSON.stringify({ text: long }))).toEqual({ text: long })
})

test('an event that is nested very deep is read', () => {
  const deep = 200_000
  const line = `{"type":"x","a":${'['.repeat(deep)}${']'.repeat(deep)}}`
  expect(eventInOutput(line)?.type).toBe('x')
})
