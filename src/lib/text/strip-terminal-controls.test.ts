import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { toOneLine, renderTerminalText } from './strip-terminal-controls.ts'

const plain = (text: string): string => renderTerminalText(text, { colour: false })

test.each([
  ['a progress line keeps its final state', '10%\r50%\r100%\n', '100%\n'],
  ['\\r\\n becomes one line end', 'one\r\ntwo\r\n', 'one\ntwo\n'],
  ['\\r\\r\\n becomes one line end', 'one\r\r\ntwo\r\r\n', 'one\ntwo\n'],
  ['colours go', '\u001b[31mred\u001b[0m\n', 'red\n'],
  ['cursor movements go', 'a\u001b[2K\u001b[1Gb\u001b[?25l\n', 'ab\n'],
  ['titles go', '\u001b]0;title\u0007text \u001b]8;;http://x\u001b\\link\n', 'text link\n'],
  ['erased characters go', 'abcd\b\b\bx\n', 'ax\n'],
  ['bells and other controls go, tabs stay', 'a\u0007\u0000\tb\n', 'a\tb\n'],
  ['device control strings go', '\u001bPq#0;2\u001b\\after\n', 'after\n'],
])('%s', (_, shown, read) => {
  expect(plain(shown)).toBe(read)
})

test('colours stay on request, and nothing else does', () => {
  expect(renderTerminalText('\u001b[1;31mred\u001b[0m\u001b[2K\u001b]0;t\u0007\n', { colour: true })).toBe(
    '\u001b[1;31mred\u001b[0m\n',
  )
})

const shown = fc.string({
  unit: fc.constantFrom(
    '\u001b',
    '[',
    ']',
    '3',
    '1',
    ';',
    'm',
    'K',
    '\u0007',
    '\\',
    '\r',
    '\n',
    '\b',
    'P',
    '(',
    'B',
    'x',
    'ü',
  ),
  maxLength: 40,
})

test.each([
  ['concealed text', '\u001b[8mx', 'x'],
  ['a background', '\u001b[41mx', 'x'],
  ['inverse text', '\u001b[7mx', 'x'],
  ['black letters', '\u001b[30mx', 'x'],
  ['black letters on black, with a reset', '\u001b[0;30;40mx', '\u001b[0mx'],
  ['a dark colour of 256', '\u001b[38;5;16mx', 'x'],
  ['a dark colour by its parts', '\u001b[38;2;10;10;10mx', 'x'],
  ['a background of 256 before a colour', '\u001b[48;5;0;31mx', '\u001b[31mx'],
  ['a cut colour', '\u001b[38;5mx', 'x'],
])('renderTerminalText with colours does not let a program hide text: %s', (_, text, shown) => {
  expect(renderTerminalText(text, { colour: true })).toBe(shown)
})

test.each([
  '\u001b[1;31mx\u001b[0m',
  '\u001b[38;5;208mx\u001b[39m',
  '\u001b[38;2;255;0;0mx\u001b[m',
  '\u001b[4;97mx\u001b[24m',
])('renderTerminalText keeps readable colours: %j', text => {
  expect(renderTerminalText(text, { colour: true })).toBe(text)
})

test('no rendered text can move the cursor', () => {
  fc.assert(
    fc.property(shown, text => {
      expect(plain(text)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f]/)
      expect(toOneLine(text)).not.toMatch(/[\u0000-\u001f\u007f]/)
    }),
    { numRuns: 1_000 },
  )
})

test('with colours, rendered text has no escape sequence except colours', () => {
  fc.assert(
    fc.property(shown, text => {
      const left = renderTerminalText(text, { colour: true }).replace(/\u001b\[[0-9;:]*m/g, '')
      expect(left).not.toContain('\u001b')
    }),
    { numRuns: 1_000 },
  )
})

test('plain text stays as it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', ' ', '\t', '\n', 'ü', '修', '🚀') }), text => {
      expect(plain(text)).toBe(text)
    }),
  )
})

test('a text for one line has no line ends and no double spaces', () => {
  expect(toOneLine('  fix\n\tthe \u001b[31mbug\u001b[0m\r\n')).toBe('fix the bug')
})
