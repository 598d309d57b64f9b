import { expect, test } from 'vitest'
import { createSession } from '../create.ts'
import { setUserTasks, replacePlan, updatePlan } from './tasks.ts'
import { makeSpec } from '../../../../testkit/in-memory/simulation.ts'
import type { TaskChange, Task } from '../tasks-and-tracker-issues.ts'

const { session } = createSession(makeSpec({ agent: 'talker' }), { hasPrompt: true })
const task = (id: string, state: Task['state'], title = `task ${id}`) => ({ id, title, state })

test('a whole plan drops the tasks that it leaves out, unless they are done', () => {
  const first = replacePlan(session, [task('1', 'done'), task('2', 'doing'), task('3', 'open')], 1).session
  const second = replacePlan(first, [task('2', 'done'), task('4', 'open')], 2)
  expect(second.session.tasks.map(({ id, state }) => `${id} ${state}`)).toEqual(['1 done', '2 done', '4 open'])
  expect(second.events).toMatchObject([{ task: { id: '2', state: 'done' } }, { task: { id: '4', state: 'open' } }])
  expect(replacePlan(second.session, [task('2', 'done'), task('4', 'open')], 3).session).toBe(second.session)
})

test('a change of a numbered plan keeps the rest, and removes dropped tasks', () => {
  const update = (before: typeof session, ...tasks: TaskChange[]) => updatePlan(before, tasks, 1).session
  const named = setUserTasks(session, { at: 1, type: 'user.tasks', tasks: [task('1', 'open', 'mine')] }).session
  const first = update(named, { id: '1', title: 'look', state: 'open' }, { id: '2', title: 'fix', state: 'open' })
  const second = update(first, { id: '1', title: null, state: 'done' }, { id: '2', title: 'fix it', state: null })
  const third = update(second, { id: '2', title: null, state: 'dropped' }, { id: '7', title: null, state: 'doing' })
  const lines = ({ tasks }: typeof session) => tasks.map(({ id, title, state }) => `${id} ${title} ${state}`)
  expect(lines(second)).toEqual(['1 mine open', '1 look done', '2 fix it open'])
  expect(lines(third)).toEqual(['1 mine open', '1 look done', '7 task 7 doing'])
  expect(update(third, { id: '7', title: null, state: 'doing' })).toBe(third)
  expect(update(third, { id: '99', title: null, state: 'dropped' })).toBe(third)
})

test('a task that a person names stays beside the plan, and the same id again changes it', () => {
  const named = setUserTasks(session, {
    at: 1,
    type: 'user.tasks',
    tasks: [task('u1', 'open'), task('u2', 'open')],
  }).session
  const both = replacePlan(named, [task('1', 'open')], 2).session
  const { session: after, events } = setUserTasks(both, {
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

test('titles become one line of limited length, and a plan has a limited size', () => {
  const many = Array.from({ length: 300 }, (_, index) => task(String(index), 'open', `a\nb${'x'.repeat(1_000)}`))
  const { tasks } = replacePlan(session, many, 1).session
  expect(tasks).toHaveLength(200)
  expect(tasks[0]?.title).toHaveLength(300)
  expect(tasks[0]?.title).not.toContain('\n')
})

test('after hundreds of tasks, the oldest finished ones go, and the present plan stays', () => {
  let now = setUserTasks(session, { at: 1, type: 'user.tasks', tasks: [task('u1', 'done')] }).session
  for (let n = 0; n < 60; n++)
    now = replacePlan(
      now,
      Array.from({ length: 5 }, (_, i) => task(`${n}.${i}`, 'done')),
      n,
    ).session
  const { tasks } = replacePlan(now, [task('x', 'doing'), task('y', 'open')], 100).session
  expect(tasks).toHaveLength(200)
  expect(tasks.slice(-2).map(({ id }) => id)).toEqual(['x', 'y'])
  expect(tasks.slice(0, 2).map(({ id }) => id)).toEqual(['u1', '20.3'])
})
