import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { missingLines } from './missing-lines.ts'

let folder: string
let recording: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'os-mend-'))
  recording = path.join(folder, 'stdout')
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

function missing(recorded: string, ...history: string[]): string[] {
  fs.writeFileSync(recording, recorded)
  return missingLines(recording, history)
}

test('what the terminal shows after the last recorded lines is missing', () => {
  expect(missing('a\r\nb\r\nc\r\n', 'a', 'b', 'c', 'd', 'e')).toEqual(['d', 'e'])
  expect(missing('a\r\nb\r\nc\r\n', 'a', 'b', 'c')).toEqual([])
  expect(missing('a\r\n', 'a', 'b')).toEqual(['b'])
})

test('colours, spaces at the end and empty lines do not hide the place', () => {
  expect(missing('\u001b[31ma\u001b[0m  \r\n\r\nb\r\nc\r\n', 'x', 'a', 'b', 'c  ', 'd')).toEqual(['d'])
})

test('the last of several places that look alike is meant', () => {
  expect(missing('a\r\na\r\na\r\n', 'a', 'a', 'a', 'a', 'b')).toEqual(['b'])
})

test('if nothing was recorded, all that is shown is missing; if the place is not found, all of it, too', () => {
  expect(missing('', '', 'a', 'b')).toEqual(['a', 'b'])
  expect(missing('q\r\nr\r\ns\r\n', 'a', 'b')).toEqual(['a', 'b'])
})
