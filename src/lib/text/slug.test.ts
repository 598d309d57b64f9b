import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { TASK_NAME } from '../../core/session/session-id-and-name.ts'
import { slugify } from './slug.ts'

test.each([
  ['Fix the login bug in auth.py please', 'fix-the-login-bug'],
  ['Menü ändern', 'menu-andern'],
  ['修复', 'task'],
  ['', 'task'],
  ['a'.repeat(100), 'a'.repeat(28)],
  ['one two three-four-five-six-seven', 'one-two-three-four'],
  ['short extraordinarilylongsecondword', 'short'],
  ['--- -x', 'x'],
])('%j becomes %j', (text, name) => {
  expect(slugify(text, 'task')).toBe(name)
})

test('any text gives a valid name', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      expect(slugify(text, 'task')).toMatch(TASK_NAME)
    }),
  )
})
