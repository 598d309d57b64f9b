import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { count, object, type RecordFormat } from '../../lib/codec.ts'
import { Trouble } from '../../lib/errors.ts'
import { readJsonCache, readRecordFile } from './json-file.ts'

const FORMAT: RecordFormat<{ readonly size: number }> = { version: 1, parse: object({ size: count }) }
const MAX_SIZE = 1_000
let folder: string
let file: string

beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'os-json-'))
  file = path.join(folder, 'record.json')
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

test('a record that does not exist is no failure', () => {
  expect(readRecordFile(file, FORMAT, MAX_SIZE)).toBeUndefined()
  expect(readRecordFile(path.join(file, 'below'), FORMAT, MAX_SIZE)).toBeUndefined()
})

test.each([
  [
    '{"version":2,"size":1}',
    'a newer oneshot wrote it (version 2, this one knows 1): oneshot update; the file is kept as it is',
  ],
  ['{"size":"1"}', 'it is damaged: in size: it is not an integer; the file is kept as it is'],
  ['{"size":', 'it is damaged: it is not JSON; the file is kept as it is'],
  ['', 'it is damaged: it is not JSON; the file is kept as it is'],
  [`{"size":1}${' '.repeat(MAX_SIZE)}`, 'it is longer than'],
])('a record that cannot be read is trouble, and the file stays: %j', (text, why) => {
  fs.writeFileSync(file, text)
  const read = (): unknown => readRecordFile(file, FORMAT, MAX_SIZE)
  expect(read).toThrow(Trouble)
  expect(read).toThrow(`reading ${file}: ${why}`)
  expect(fs.readFileSync(file, 'utf8')).toBe(text)
  expect(readJsonCache(file, FORMAT.parse, MAX_SIZE)).toEqual(text.startsWith('{"version"') ? { size: 1 } : null)
})

test('no reader follows a link', () => {
  fs.writeFileSync(path.join(folder, 'other'), '{"size":1}')
  fs.symlinkSync('other', file)
  expect(() => readRecordFile(file, FORMAT, MAX_SIZE)).toThrow('ELOOP')
  expect(readJsonCache(file, FORMAT.parse, MAX_SIZE)).toBeNull()
})
