import { expect, test } from 'vitest'
import { compareVersions, versionIn } from './version.ts'

test.each([
  ['2.1.325 (Claude Code)', '2.1.325'],
  ['codex-cli 0.166.0', '0.166.0'],
  ['1.18.33', '1.18.33'],
  ['no idea', undefined],
])('the version in %j is %s', (text, version) => {
  expect(versionIn(text)).toBe(version)
})

test('versions are compared by their numbers, not by their letters', () => {
  expect(compareVersions('2.1.99', '2.1.197')).toBeLessThan(0)
  expect(compareVersions('0.166.0', '0.99.9')).toBeGreaterThan(0)
  expect(compareVersions('1.18.33', '1.18.33')).toBe(0)
  expect(compareVersions('2.0.0', '1.99.99')).toBeGreaterThan(0)
})
