import { expect, test } from 'vitest'
import { isAtLeast, tmuxVersion } from './tmux-version.ts'

test.each([
  ['tmux 3.3a', true],
  ['tmux 3.2', true],
  ['tmux next-3.6', true],
  ['tmux 3.10', true],
  ['tmux 4.0-rc', true],
  ['tmux 3.1c', false],
  ['tmux 2.9', false],
])('%s is at least 3.2: %s', (text, expected) => {
  const version = tmuxVersion(text)
  expect(version && isAtLeast(version, 3, 2)).toBe(expected)
})

test('a tmux without a number is not judged', () => {
  expect(tmuxVersion('tmux master')).toBeUndefined()
})
