import { expect, test } from 'vitest'
import { LOOP_STARTED_AT, makeLoop } from '../../../testkit/core/loop-fixtures.ts'
import { loopDueAt } from './derive-effects.ts'
import { newTask } from './loop-updates.ts'
import { chooseNextTask, increaseConcurrency, nextIncreaseAt, reduceConcurrency } from './schedule.ts'
import type { LoopTask } from './loop-state.ts'

function task(number: number, state: LoopTask['state'], after: readonly number[] = []): LoopTask {
  const key = (n: number): string => `k${n}`
  const item = { key: key(number), label: `${number}`, title: `task ${number}`, path: [], body: '', isDone: false }
  return { ...newTask({ ...item, after: after.map(key) }, number), state }
}

const OPEN = { name: 'open' } as const
const WORKING = { name: 'working', role: 'task', rest: null } as const
const spec = { parallel: 3, stagger: 500 }

test('starts keep a distance, unless nobody is at work', () => {
  const loop = {
    ...makeLoop([task(1, WORKING), task(2, OPEN)], { lastStartAt: LOOP_STARTED_AT }, spec),
    concurrency: 3,
  }
  expect(chooseNextTask(loop, LOOP_STARTED_AT + 499)).toEqual({ kind: 'wait', until: LOOP_STARTED_AT + 500 })
  expect(chooseNextTask(loop, LOOP_STARTED_AT + 500)).toMatchObject({ kind: 'begin', task: { number: 2 } })
  expect(chooseNextTask({ ...loop, tasks: [task(2, OPEN)] }, LOOP_STARTED_AT)).toMatchObject({ kind: 'begin' })
})

test('a loop is due at once if the distance between two starts has passed since its last decision', () => {
  const loop = makeLoop([task(1, WORKING), task(2, OPEN)], { lastStartAt: LOOP_STARTED_AT, concurrency: 3 }, spec)
  const working = { ...loop, stage: { name: 'working' } as const }
  expect(loopDueAt(working, LOOP_STARTED_AT + 499)).toBe(LOOP_STARTED_AT + 500)
  expect(loopDueAt(working, LOOP_STARTED_AT + 507)).toBe(LOOP_STARTED_AT + 507)
})

test('the number of workers stays within its limit, and merges do not count', () => {
  const busy = [1, 2, 3].map(number => task(number, WORKING))
  const loop = { ...makeLoop([...busy, task(4, OPEN)], {}, spec), concurrency: 3 }
  expect(chooseNextTask(loop, LOOP_STARTED_AT)).toEqual({ kind: 'wait', until: null })
  const merging = task(1, { name: 'merging', role: 'task' })
  expect(chooseNextTask({ ...loop, tasks: [merging, ...loop.tasks.slice(1)] }, LOOP_STARTED_AT)).toMatchObject({
    kind: 'begin',
  })
})

test('the schedule skips a task until its dependencies are done', () => {
  const loop = { ...makeLoop([task(1, OPEN, [2]), task(2, OPEN)], {}, spec), concurrency: 3 }
  expect(chooseNextTask(loop, LOOP_STARTED_AT)).toMatchObject({ kind: 'begin', task: { number: 2 } })
  const done = task(2, { name: 'done', at: LOOP_STARTED_AT, how: 'it is' })
  expect(chooseNextTask({ ...loop, tasks: [task(1, OPEN, [2]), done] }, LOOP_STARTED_AT)).toMatchObject({
    task: { number: 1 },
  })
})

const MINUTE = 60_000
const loop = { ...makeLoop([], {}, { parallel: 4 }), width: 4 }

test('a usage limit halves the number of workers, once for all that meet it together, and never below one', () => {
  const once = reduceConcurrency(loop, LOOP_STARTED_AT)
  expect(once.concurrency).toBe(2)
  expect(reduceConcurrency(once, LOOP_STARTED_AT + 1_000).concurrency, 'the same limit').toBe(2)
  const again = reduceConcurrency(once, LOOP_STARTED_AT + 2 * MINUTE)
  expect(again.concurrency).toBe(1)
  expect(reduceConcurrency(again, LOOP_STARTED_AT + 4 * MINUTE).concurrency).toBe(1)
})

test('every five minutes without a limit add one worker, up to the maximum', () => {
  const narrow = reduceConcurrency(loop, LOOP_STARTED_AT)
  expect(nextIncreaseAt(narrow)).toBe(LOOP_STARTED_AT + 5 * MINUTE)
  expect(increaseConcurrency(narrow, LOOP_STARTED_AT + 5 * MINUTE - 1).concurrency).toBe(2)
  const three = increaseConcurrency(narrow, LOOP_STARTED_AT + 5 * MINUTE)
  expect(three.concurrency).toBe(3)
  expect(increaseConcurrency(three, LOOP_STARTED_AT + 6 * MINUTE).concurrency).toBe(3)
  const four = increaseConcurrency(three, LOOP_STARTED_AT + 10 * MINUTE)
  expect(four.concurrency).toBe(4)
  expect(nextIncreaseAt(four)).toBeNull()
})
