import { expect, test } from 'vitest'
import { InvalidData } from '../../lib/codec.ts'
import { findFreeName, isTaskName, sessionId, sessionName } from './session-id-and-name.ts'

test('a session id consists of 1 to 20 lower-case letters and digits, and can be no path', () => {
  for (const good of ['a', '7', 'k3v9x2m4qa', 'x'.repeat(20)]) expect(sessionId(good)).toBe(good)
  for (const bad of ['', '.', '..', '../a', 'a/b', 'a.1', '-a', 'A', 'a b', 'a\n', 'ä', 'x'.repeat(21), 7, null, ['a']])
    expect(() => sessionId(bad)).toThrow(InvalidData)
})

test('a task name consists of lower-case letters, digits and inner hyphens, at most 63', () => {
  const good = ['a', '7', 'fix-auth', 'a--b', 'x'.repeat(63)]
  const bad = ['', '-', '-a', 'a-', 'Fix', 'a b', 'a.b', 'a:b', 'a_b', 'ä', 'a\n', '\na', 'x'.repeat(64), '../a']
  expect(good.filter(isTaskName)).toEqual(good)
  expect(bad.filter(isTaskName)).toEqual([])
})

test('a session name joins the agent and the task, unless the task already starts with the agent', () => {
  expect([sessionName('demo', 'fix'), sessionName('demo', 'demo-fix'), sessionName('demo', 'demo')]).toEqual([
    'demo-fix',
    'demo-fix',
    'demo-demo',
  ])
})

test('findFreeName returns the first name that nobody has', () => {
  const taken = new Set(['a', 'a-2', 'a-4'])
  expect([findFreeName('a', name => taken.has(name)), findFreeName('b', name => taken.has(name))]).toEqual(['a-3', 'b'])
})
