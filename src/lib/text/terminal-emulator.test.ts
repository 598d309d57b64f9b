import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { ScreenText } from './terminal-emulator.ts'

const AT_ONCE = { heading: '[last screen]', notice: null }

function shown(
  text: string,
  options: { heading: string; notice: string | null } = AT_ONCE,
  size = text.length,
): string {
  const screen = new ScreenText(options)
  let out = ''
  for (let at = 0; at < text.length; at += Math.max(1, size))
    out += screen.write(text.slice(at, at + Math.max(1, size)))
  return out + screen.end()
}

test('ordinary output passes unchanged, with its colours and progress lines', () => {
  const text = '10%\r100%\r\n\u001b[31mred\u001b[0m\u001b[K\n\u001b[1A\u001b[2Kno end'
  expect(shown(text)).toBe(text)
})

test('an editor leaves its last screen, between the output before and after it', () => {
  const text =
    'before\r\n\u001b[?1049h\u001b[1;50r\u001b[H\u001b[2J\u001b[50;1H"notes" 1L\u001b[1;1Hhello\u001b[2;1H~\u001b[1;6H, world\u001b[?1049lafter\r\n'
  expect(shown(text)).toBe(`before\r\n[last screen]\nhello, world\n~\n${'\n'.repeat(47)}"notes" 1L\nafter\r\n`)
})

test('a program that redraws its table leaves its last state', () => {
  const frame = (n: number): string => `\u001b[H top ${n}\u001b[K\r\n\r\n  PID\u001b[K\r\n  ${n}${n}\u001b[K`
  expect(shown(`\u001b[H\u001b[J${frame(10)}${frame(11)}${frame(9)}`)).toBe(' top 9\n\n  PID\n  99\n')
})

test('a program that clears the screen before it ends leaves its state before that', () => {
  expect(shown('\u001b[?1049h\u001b[Hall is well\u001b[2J\u001b[?1049l')).toBe('[last screen]\nall is well\n')
})

test('lines that scroll away and lines that a program clears stay', () => {
  const lines = Array.from({ length: 200 }, (_, n) => `line ${n}`)
  expect(shown(`first\r\n\u001b[H\u001b[2J${lines.join('\r\n')}`)).toBe(`first\r\n${lines.join('\n')}\n`)
  expect(shown('\u001b[Hone\r\ntwo\u001b[H\u001b[2Jthree')).toBe('one\ntwo\nthree\n')
})

test('a reader who waits for each line sees every line at once, and a notice about an editor', () => {
  const options = { heading: '[last screen]', notice: '[see it with attach]' }
  const screen = new ScreenText(options)
  expect(screen.write('one\r\n\u001b[H\u001b[2Jtwo\r\n')).toBe('one\r\n\u001b[H\u001b[2Jtwo\r\n')
  expect(screen.write('\u001b[?1049h\u001b[Heditor')).toBe('[see it with attach]\n')
  expect(screen.write('\u001b[?1049lthree\r\n')).toBe('[last screen]\neditor\nthree\r\n')
})

test('output without a line end stays, in rows of a limited length', () => {
  const text = shown(`\u001b[H${'x'.repeat(2_000_000)}`)
  expect(text.replaceAll('\n', '')).toHaveLength(2_000_000)
  expect(Math.max(...text.split('\n').map(line => line.length))).toBe(16_384)
})

test('the split of the output into pieces does not matter, and no output makes the screen large', () => {
  const sequence = fc.oneof(
    fc.stringMatching(/^[ -~\r\n\t]{0,8}$/),
    fc.constantFrom(
      '\u001b[?1049h',
      '\u001b[?1049l',
      '\u001b[H',
      '\u001b[2J',
      '\u001b[999;999H',
      '\u001b[99999999C',
      '界',
      'é',
    ),
    fc
      .tuple(
        fc.integer({ min: 0, max: 60 }),
        fc.integer({ min: 0, max: 60 }),
        fc.constantFrom(...'ABCDEFGHJKLMPSTXdfrsu@b`'.split('')),
      )
      .map(([a, b, final]) => `\u001b[${a};${b}${final}`),
    fc.constantFrom('\u001b7', '\u001b8', '\u001bM', '\u001bD', '\u001bc', '\u001b]0;title\u0007', '\u001bPq\u001b\\'),
  )
  fc.assert(
    fc.property(fc.array(sequence, { maxLength: 40 }), fc.integer({ min: 1, max: 5 }), (parts, size) => {
      const text = parts.join('')
      const whole = shown(text)
      expect(shown(text, AT_ONCE, size)).toBe(whole)
      expect(whole.length).toBeLessThan(300_000)
    }),
  )
})
