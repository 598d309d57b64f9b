import { assert, constantFrom, boolean, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { displayWidth } from '../../../lib/text/display-width.ts'
import {
  formatToolCall,
  formatError,
  summarizeInput,
  formatNote,
  formatToolResult,
  formatText,
} from './transcript-lines.ts'

test('formatText shows text unchanged, with one newline at its end', () => {
  expect(formatText('One\n\n  two\tthree\n\n')).toBe('One\n\n  two\tthree\n')
  expect(formatText('\u001b[31mred\u001b[0m 10%\r100%')).toBe('100%\n')
})

test.each(['', ' \n\t\n', '\u001b[0m'])('formatText drops text that nobody could read: %j', words => {
  expect(formatText(words)).toBeNull()
})

test('formatToolCall shows a call in one line', () => {
  expect(formatToolCall('bash', 'ls -l\n  | wc')).toBe('● bash ls -l | wc\n')
  expect(formatToolCall('list', '')).toBe('● list\n')
  expect(formatToolCall('bash', 'x'.repeat(300))).toBe(`● bash ${'x'.repeat(159)}…\n`)
})

test('formatToolResult shows a short result in full', () => {
  expect(formatToolResult('one\n\n\tthree\n')).toBe('  │ one\n  │ \n  │ \tthree\n')
  expect(formatToolResult('1\n2\n3\n4\n5\n6')?.split('\n')).toHaveLength(7)
})

test('formatToolResult shows the beginning and the end of a long result', () => {
  const lines = Array.from({ length: 100 }, (_, n) => `line ${n + 1}`)
  expect(formatToolResult(lines.join('\n'))).toBe(
    '  │ line 1\n  │ line 2\n  │ line 3\n  │ … 95 more lines\n  │ line 99\n  │ line 100\n',
  )
})

test('formatToolResult marks errors', () => {
  expect(formatToolResult('no such file\nexit status 1\n', true)).toBe('  ✗ no such file\n  ✗ exit status 1\n')
})

test('an empty result has no line, unless it is an error', () => {
  expect(formatToolResult('')).toBeNull()
  expect(formatToolResult(' \n\n')).toBeNull()
  expect(formatToolResult('\n', true)).toBe('✗ the tool failed without a word\n')
})

test('truncate cuts a long line by its columns on a terminal, and never within a character', () => {
  expect(formatToolResult('x'.repeat(201))).toBe(`  │ ${'x'.repeat(199)}…\n`)
  expect(formatToolResult('日'.repeat(101))).toBe(`  │ ${'日'.repeat(99)}…\n`)
  expect(formatToolResult(`x${'😀'.repeat(1_000_000)}`)).toBe(`  │ x${'😀'.repeat(99)}…\n`)
  expect(formatToolResult(`a\t${'é'.repeat(198)}`)).toBe(`  │ a\t${'é'.repeat(198)}\n`)
})

test('every tool result takes at most eight lines, and none is wider than 204 columns', () => {
  const unit = constantFrom('a', ' ', '\n', '\r', '\t', '\u0008', '\u001b[2K', '日', '😀', 'e\u0301', 'x'.repeat(150))
  assert(
    property(string({ unit, maxLength: 60 }), boolean(), (output, isError) => {
      const lines = formatToolResult(output, isError)?.split('\n').slice(0, -1) ?? []
      expect(lines.length).toBeLessThanOrEqual(8)
      for (const line of lines) expect(line).toMatch(/^(?: {2}[│✗] |✗ )[^\r\u001b\u0008]*$/)
      for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(204)
    }),
  )
})

test('formatError and formatNote write sentences', () => {
  expect(formatError('the request\nfailed')).toBe('✗ the request failed\n')
  expect(formatNote('claude 2.1.325,\tm')).toBe('── claude 2.1.325, m\n')
  expect(formatError('x'.repeat(600))).toBe(`✗ ${'x'.repeat(499)}…\n`)
})

test.each([
  [{ description: 'list files', command: 'ls' }, 'ls'],
  [{ cmd: ['git', 'status'] }, 'git status'],
  [{ file_path: '/a/b.ts', old_string: 'x' }, '/a/b.ts'],
  [{ command: '', path: 'src' }, 'src'],
  [{ command: 7, pattern: 'x+' }, 'x+'],
  [{ cmd: ['a', 7], query: 'q' }, 'q'],
  [{ limit: 5, city: 'Rome' }, 'Rome'],
  [{ limit: 5, nested: { path: 'x' } }, ''],
  [['first', 'second'], 'first'],
  [{}, ''],
  ['just words', 'just words'],
  [42, ''],
  [null, ''],
  [undefined, ''],
])('the summary of %j is “%s”', (input, summary) => {
  expect(summarizeInput(input)).toBe(summary)
})
