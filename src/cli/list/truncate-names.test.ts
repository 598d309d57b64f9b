import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { shortNames } from './truncate-names.ts'

const shown = (names: readonly string[], width: number): string[] => {
  const short = shortNames(names, width)
  return names.map(name => short.get(name) as string)
}

test('shortNames keeps a short name, and keeps the beginning and the end of a long one', () => {
  expect(shown(['demo-docs', 'command-fix-the-login-of-all-users-2'], 20)).toEqual([
    'demo-docs',
    'command-fix-…users-2',
  ])
})

test('long names that differ in one place only stay distinct', () => {
  const names = ['web', 'api', 'cli'].map(part => `codex-repair-the-tests-of-the-${part}-that-fail-on-every-second-day`)
  expect(shown(names, 16)).toEqual(['…-web-that-fail…', '…-api-that-fail…', '…-cli-that-fail…'])
})

test('no name is wider than the limit, and names that differ in their first letters stay distinct', () => {
  const name = fc.stringMatching(/^[a-z][a-z-]{0,80}$/)
  fc.assert(
    fc.property(
      fc.uniqueArray(name, { selector: text => text.slice(0, 4) }),
      fc.integer({ min: 12, max: 90 }),
      (names, width) => {
        const texts = shown(names, width)
        expect(texts.every(text => text.length <= width)).toBe(true)
        expect(new Set(texts).size).toBe(names.length)
      },
    ),
  )
})
