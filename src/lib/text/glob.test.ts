import { describe, expect, it } from 'vitest'
import { literalGlob, matchesGlob } from './glob.ts'

describe('path patterns', () => {
  it.each([
    ['*.ts', 'a.ts', true],
    ['*.ts', 'b/a.ts', false],
    ['**/*.ts', 'a.ts', true],
    ['**/*.ts', 'b/c/a.ts', true],
    ['**/*.ts', 'b/c/a.tsx', false],
    ['**/*.ts', 'a.ts/below', true],
    ['src', 'src/a/b', true],
    ['./src/', 'src/a', true],
    ['src', 'srcs/a', false],
    ['a**z', 'a/b/z', true],
    ['a?c', 'abc', true],
    ['a?c', 'a/c', false],
    ['{a,bc}{,d}e', 'bcde', true],
    ['{a,bc}{,d}e', 'ae', true],
    ['{a,bc}{,d}e', 'abe', false],
    ['{}', 'x', false],
    ['{a', '{a', true],
    ['[a-c]x', 'bx', true],
    ['[!a-c]x', 'bx', false],
    ['[]x', '[]x', true],
    ['[z-a]', 'z', false],
    ['[\\]', '\\', true],
    ['修*', '修理', true],
    ['?.md', '😀.md', true],
    ['.', 'anything', true],
    ['', 'anything', true],
  ])('%s and %s: %s', (pattern, path, isMatch) => {
    expect(matchesGlob(path, pattern)).toBe(isMatch)
  })

  it('a literal pattern matches its path and the content of it', () => {
    expect(matchesGlob('a[*]{b,c}?/d', literalGlob('a[*]{b,c}?'))).toBe(true)
    expect(matchesGlob('a[x]{b,c}?', literalGlob('a[*]{b,c}?'))).toBe(false)
  })

  it('a pattern with many stars takes time in proportion to their number', () => {
    expect(matchesGlob('a'.repeat(200), `${'*a'.repeat(50)}*b`)).toBe(false)
    expect(matchesGlob('a'.repeat(200), `${'**a'.repeat(50)}**b`)).toBe(false)
    expect(matchesGlob('a/'.repeat(100), `${'**/'.repeat(50)}b`)).toBe(false)
    expect(matchesGlob('a'.repeat(200), `${'{a,aa}'.repeat(150)}b`)).toBe(false)
  })
})
