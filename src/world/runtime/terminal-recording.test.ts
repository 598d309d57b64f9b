import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findMissingText } from './terminal-recording.ts'

let folder: string
let recording: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'os-mend-'))
  recording = path.join(folder, 'stdout')
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

function missing(recorded: string, ...history: string[]): string {
  fs.writeFileSync(recording, recorded)
  return findMissingText(recording, history)
}

test('the missing text is the text that the terminal shows after the last recorded lines', () => {
  expect(missing('a\r\nb\r\nc\r\n', 'a', 'b', 'c', 'd', 'e')).toBe('d\r\ne\r\n')
  expect(missing('a\r\nb\r\nc\r\n', 'a', 'b', 'c')).toBe('')
  expect(missing('a\r\n', 'a', 'b')).toBe('b\r\n')
})

test('the search ignores colours, trailing spaces and empty lines', () => {
  expect(missing('\u001b[31ma\u001b[0m  \r\n\r\nb\r\nc\r\n', 'x', 'a', 'b', 'c  ', 'd')).toBe('d\r\n')
})

test('the search takes the last of several equal places', () => {
  expect(missing('a\r\na\r\na\r\n', 'a', 'a', 'a', 'a', 'b')).toBe('b\r\n')
})

test('all shown text is missing if the recording is empty or the search finds no place', () => {
  expect(missing('', '', 'a', 'b')).toBe('a\r\nb\r\n')
  expect(missing('q\r\nr\r\ns\r\n', 'a', 'b')).toBe('a\r\nb\r\n')
})

test('the repair completes a line in which the recorder died, and repeats no text', () => {
  expect(missing('a\r\nb\r\nc\r\nhal', 'a', 'b', 'c', 'half', 'd')).toBe('f\r\nd\r\n')
  expect(missing('hal', 'half', 'd')).toBe('f\r\nd\r\n')
  expect(missing('a\r\nhal', 'a', 'other', 'd')).toBe('\r\nother\r\nd\r\n')
  expect(missing('a\r\nhal', 'a')).toBe('')
  expect(missing('a\r\nwell? ', 'a', 'well?')).toBe('')
})
