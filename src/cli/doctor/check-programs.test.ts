import { expect, test } from 'vitest'
import { compareVersions, extractVersion, isAtLeast, parseTmuxVersion } from './check-programs.ts'

test.each([
  ['2.1.325 (Claude Code)', '2.1.325'],
  ['codex-cli 0.166.0', '0.166.0'],
  ['1.18.33', '1.18.33'],
  ['no idea', undefined],
])('the version in %j is %s', (text, version) => {
  expect(extractVersion(text)).toBe(version)
})

test('compareVersions compares numbers, not letters', () => {
  expect(compareVersions('2.1.99', '2.1.197')).toBeLessThan(0)
  expect(compareVersions('0.166.0', '0.99.9')).toBeGreaterThan(0)
  expect(compareVersions('1.18.33', '1.18.33')).toBe(0)
  expect(compareVersions('2.0.0', '1.99.99')).toBeGreaterThan(0)
})

test.each([
  ['tmux 3.3a', true],
  ['tmux 3.2', true],
  ['tmux next-3.6', true],
  ['tmux 3.10', true],
  ['tmux 4.0-rc', true],
  ['tmux 3.1c', false],
  ['tmux 2.9', false],
])('%s is at least 3.2: %s', (text, expected) => {
  const version = parseTmuxVersion(text)
  expect(version && isAtLeast(version, 3, 2)).toBe(expected)
})

test('parseTmuxVersion returns undefined for a tmux without a number', () => {
  expect(parseTmuxVersion('tmux master')).toBeUndefined()
})
