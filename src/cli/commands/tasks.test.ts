import { expect, test } from 'vitest'
import { parseTasksArgs } from './tasks.ts'

test('a name, an action and its words are told apart', () => {
  expect(parseTasksArgs([])).toEqual({ name: undefined, request: undefined })
  expect(parseTasksArgs(['fix-auth'])).toEqual({ name: 'fix-auth', request: undefined })
  expect(parseTasksArgs(['done', 'u1', 'bd-a1b2'])).toEqual({
    name: undefined,
    request: { action: 'done', ids: ['u1', 'bd-a1b2'] },
  })
  expect(parseTasksArgs(['fix-auth', 'open', '3'])).toEqual({
    name: 'fix-auth',
    request: { action: 'open', ids: ['3'] },
  })
})

test('a title need not be quoted', () => {
  const request = { action: 'add', titles: ['write the tests'] }
  expect(parseTasksArgs(['add', 'write the tests'])).toEqual({ name: undefined, request })
  expect(parseTasksArgs(['fix-auth', 'add', 'write', 'the', 'tests'])).toEqual({ name: 'fix-auth', request })
})

test('what makes no sense is refused with a way on', () => {
  expect(() => parseTasksArgs(['fix-auth', 'don', 'u1'])).toThrow('tasks fix-auth cannot "don"')
  expect(() => parseTasksArgs(['done'])).toThrow('tasks done needs the id of a task')
  expect(() => parseTasksArgs(['fix-auth', 'add', '  '])).toThrow('tasks add needs a title')
})
