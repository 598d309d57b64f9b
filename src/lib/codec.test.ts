import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  anything,
  assertKnownVersion,
  boolean,
  count,
  decodeRecord,
  encodeRecord,
  InvalidData,
  instant,
  listOf,
  mapOf,
  NewerVersion,
  nullable,
  object,
  oneOf,
  optional,
  parseJson,
  type RecordFormat,
  string,
  stringThat,
  tryParseJson,
  validEntriesOf,
  withDefault,
} from './codec.ts'

const parseTask = object({
  name: string,
  tries: count,
  note: optional(string),
  end: nullable(instant),
  isOpen: withDefault(boolean, true),
})
const TASK = { name: 'a', tries: 2, end: null, isOpen: false }

test('object drops unknown fields, leaves out absent ones and fills in defaults', () => {
  expect(parseTask({ ...TASK, more: 1 })).toEqual(TASK)
  expect(Object.keys(parseTask(TASK))).toEqual(['name', 'tries', 'end', 'isOpen'])
  expect(parseTask({ name: 'a', tries: 2, end: 7, note: 'n' })).toEqual({ ...TASK, end: 7, note: 'n', isOpen: true })
})

test('object takes no field from the prototype of a value', () => {
  expect(() => object({ constructor: anything, name: string })(JSON.parse('{"__proto__":{"name":"x"}}'))).toThrow(
    'in name',
  )
  expect(mapOf(string)(JSON.parse('{"__proto__":"x"}'))).toEqual(Object.fromEntries([['__proto__', 'x']]))
})

test.each([
  [{ ...TASK, name: 7 }, 'in name: it is not a text'],
  [{ ...TASK, tries: -1 }, 'in tries: it is not a number from 0'],
  [{ ...TASK, tries: 1.5 }, 'in tries: it is not an integer'],
  [{ ...TASK, end: 1e300 }, 'in end: it is not a number from'],
  [{ ...TASK, end: undefined }, 'in end: '],
  [[], 'it is not an object'],
  [null, 'it is not an object'],
])('a parser names the wrong part of %j', (value, message) => {
  expect(() => parseTask(value)).toThrow(message)
})

test('a message leads from the outside to the wrong part, and never quotes the content', () => {
  const parse = object({ tasks: listOf(object({ key: oneOf('a', 'b') })) })
  expect(() => parse({ tasks: [{ key: 'a' }, { key: 'hunter2' }] })).toThrow(
    new InvalidData('in tasks in 1 in key: it is none of the known values'),
  )
  expect(() => parseJson('{"token": hunter2}', parse)).toThrow(new InvalidData('it is not JSON'))
})

test('lists have a limit, and validEntriesOf drops the other entries', () => {
  expect(() => listOf(string, 1)(['a', 'b'])).toThrow('more than 1 entries')
  expect(validEntriesOf(stringThat(text => text !== ''))(['a', '', 7, null, 'b'])).toEqual(['a', 'b'])
  expect(validEntriesOf(listOf(count))([[1, 2], ['x'], [3]])).toEqual([[1, 2], [3]])
})

const FORMAT: RecordFormat<typeof TASK> = { version: 2, parse: value => ({ ...parseTask(value), end: null }) }

test('a record keeps its version in the text, and a text without one is of version 1', () => {
  expect(JSON.parse(encodeRecord(FORMAT, TASK))).toEqual({ version: 2, ...TASK })
  expect(decodeRecord(FORMAT, encodeRecord(FORMAT, TASK))).toEqual(TASK)
  expect(decodeRecord(FORMAT, JSON.stringify(TASK))).toEqual(TASK)
})

test('a record of a newer version is an error that names both versions, also where other errors count as none', () => {
  const text = JSON.stringify({ version: 3, whatever: [] })
  expect(() => decodeRecord(FORMAT, text)).toThrow(
    'a newer oneshot wrote it (version 3, this one knows 2): oneshot update',
  )
  expect(() => decodeRecord(FORMAT, text)).toThrow(NewerVersion)
  expect(() => assertKnownVersion({ version: 'new' }, 2)).toThrow('its version is not a number')
})

test('tryParseJson returns null for any text of another form, and does not hide a defect of a parser', () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), text => void tryParseJson(text, parseTask)))
  const broken = (): never => {
    throw new TypeError('a defect')
  }
  expect(() => tryParseJson('{}', broken)).toThrow('a defect')
})
