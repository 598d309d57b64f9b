import { expect, test } from 'vitest'
import { create } from './create.ts'
import { nameTasks, planned } from './planning.ts'
import { specOf } from '../testkit/memory/stage.ts'
import type { Task } from './task.ts'

const { session } = create(specOf({ agent: 'talker' }), { hasPrompt: true })
const task = (id: string, state: Task['state'], title = `task ${id}`) => ({ id, title, state })

test('a plan is told in whole: what it leaves out is dropped, unless it was done', () => {
  const first = planned(session, [task('1', 'done'), task('2', 'doing'), task('3', 'open')], 1).session
  const second = planned(first, [task('2', 'done'), task('4', 'open')], 2)
  expect(second.session.tasks.map(({ id, state }) => `${id} ${state}`)).toEqual(['1 done', '2 done', '4 open'])
  expect(second.events).toMatchObject([{ task: { id: '2', state: 'done' } }, { task: { id: '4', state: 'open' } }])
  expect(planned(second.session, [task('2', 'done'), task('4', 'open')], 3).session).toBe(second.session)
})

test('what a person names stays beside the plan, and the same id again changes it', () => {
  const named = nameTasks(session, {
    at: 1,
    type: 'user.tasks',
    tasks: [task('u1', 'open'), task('u2', 'open')],
  }).session
  const both = planned(named, [task('1', 'open')], 2).session
  const { session: after, events } = nameTasks(both, {
    at: 3,
    type: 'user.tasks',
    tasks: [task('u1', 'done'), task('1', 'done')],
  })
  expect(after.tasks.map(({ id, state, source }) => `${id} ${state} ${source}`)).toEqual([
    'u1 done user',
    'u2 open user',
    '1 done agent',
  ])
  expect(events.map(event => event.type)).toEqual(['task.changed', 'task.changed'])
})

test('titles become one line that is not too long, and a plan does not grow for ever', () => {
  const many = Array.from({ length: 300 }, (_, index) => task(String(index), 'open', `a\nb${'x'.repeat(1_000)}`))
  const { tasks } = planned(session, many, 1).session
  expect(tasks).toHaveLength(200)
  expect(tasks[0]?.title).toHaveLength(300)
  expect(tasks[0]?.title).not.toContain('\n')
})
