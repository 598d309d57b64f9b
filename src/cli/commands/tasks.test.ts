import { expect, test } from 'vitest'
import { parseTasksArgs } from './tasks.ts'

test('parseTasksArgs separates a name, an action and its words', () => {
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

test('a title needs no quotes', () => {
  const request = { action: 'add', titles: ['write the tests'] }
  expect(parseTasksArgs(['add', 'write the tests'])).toEqual({ name: undefined, request })
  expect(parseTasksArgs(['fix-auth', 'add', 'write', 'the', 'tests'])).toEqual({ name: 'fix-auth', request })
})

test('parseTasksArgs refuses an invalid line and names the problem', () => {
  expect(() => parseTasksArgs(['fix-auth', 'don', 'u1'])).toThrow('tasks fix-auth cannot "don"')
  expect(() => parseTasksArgs(['done'])).toThrow('tasks done needs the id of a task')
  expect(() => parseTasksArgs(['fix-auth', 'add', '  '])).toThrow('tasks add needs a title')
})
