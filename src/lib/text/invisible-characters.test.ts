import { expect, test } from 'vitest'
import { escapeInJson, excerptOf } from './invisible-characters.ts'

test.each([
  ['direction marks', 'rm \u202exfer', 'rm <U+202E>xfer'],
  ['zero-width characters', 'a\u200bb\u2060c\ufeffd', 'a<U+200B>b<U+2060>c<U+FEFF>d'],
  ['tags', `hi${String.fromCodePoint(0xe0041, 0xe0042)}`, 'hi<U+E0041><U+E0042>'],
  ['variation selectors', `a\ufe01${String.fromCodePoint(0xe0101)}`, 'a<U+FE01><U+E0101>'],
  ['fillers', 'a\u3164\u115f\uffa0\u2800b', 'a<U+3164><U+115F><U+FFA0><U+2800>b'],
  ['seven-bit and eight-bit controls', 'a\u001b[2J\u009bJ\u0008', 'a<U+001B>[2J<U+009B>J<U+0008>'],
  ['a lone surrogate and a private-use character', 'a\ud800b\ue000', 'a<U+D800>b<U+E000>'],
  ['line ends and blanks', ' one\r\n\t two\u00a0\u3000three\n', 'one two three'],
  ['stacked combining marks', `e${'\u0301'.repeat(5)}`, 'e\u0301\u0301\u0301<U+0301><U+0301>'],
  ['ordinary scripts', 'naïve कि 漢字 ñ 👍', 'naïve कि 漢字 ñ 👍'],
])('%s', (_, text, shown) => {
  expect(excerptOf(text, 200)).toMatchObject({ text: shown, rest: 0 })
})

test('the excerpt counts the characters that it leaves out, and all invisible ones', () => {
  const hidden = String.fromCodePoint(0xe0041).repeat(50)
  expect(excerptOf(`${'x'.repeat(250)}${hidden}`, 200)).toEqual({ text: 'x'.repeat(200), rest: 100, invisible: 50 })
  expect(excerptOf(`${'\n'.repeat(5_000)}x${'\n'.repeat(5_000)}y`, 200)).toEqual({ text: 'x y', rest: 0, invisible: 0 })
  expect(excerptOf(`${'x'.repeat(198)}\u202etail`, 200)).toEqual({ text: 'x'.repeat(198), rest: 5, invisible: 1 })
})

test('the escaped JSON means the same and hides nothing', () => {
  const value = { a: `x\u202e\u200b\u3164${String.fromCodePoint(0xe0041)}\u001b` }
  const json = escapeInJson(JSON.stringify(value, null, 2))
  expect(json).toMatch(/^[\n -~]+$/)
  expect(JSON.parse(json)).toEqual(value)
})

test.each(['x', '\u202e', '\n', 'e\u0301', ' \u3164'])(
  'two million characters of %j do not delay the excerpt',
  word => {
    const begun = performance.now()
    excerptOf(word.repeat(2_000_000 / word.length), 200)
    expect(performance.now() - begun).toBeLessThan(5_000)
  },
)
