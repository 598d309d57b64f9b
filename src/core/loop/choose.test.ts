import { expect, test } from 'vitest'
import { aLoop, BEGIN } from '../../testkit/core/loops.ts'
import { newTask } from './change.ts'
import { choose } from './choose.ts'
import type { LoopTask } from './loop.ts'

function task(number: number, stand: LoopTask['stand'], after: readonly number[] = []): LoopTask {
  const key = (n: number): string => `k${n}`
  const item = { key: key(number), label: `${number}`, title: `task ${number}`, path: [], body: '', isDone: false }
  return { ...newTask({ ...item, after: after.map(key) }, number), stand }
}

const OPEN = { name: 'open' } as const
const WORKING = { name: 'working', role: 'task', rest: null } as const
const spec = { parallel: 3, stagger: 500 }

test('one begins a moment after the other, unless nobody is at work', () => {
  const loop = { ...aLoop([task(1, WORKING), task(2, OPEN)], { lastStartAt: BEGIN }, spec), width: 3 }
  expect(choose(loop, BEGIN + 499)).toEqual({ kind: 'wait', until: BEGIN + 500 })
  expect(choose(loop, BEGIN + 500)).toMatchObject({ kind: 'begin', task: { number: 2 } })
  expect(choose({ ...loop, tasks: [task(2, OPEN)] }, BEGIN)).toMatchObject({ kind: 'begin' })
})

test('no more are at work than may be, and what is merged does not count', () => {
  const busy = [1, 2, 3].map(number => task(number, WORKING))
  const loop = { ...aLoop([...busy, task(4, OPEN)], {}, spec), width: 3 }
  expect(choose(loop, BEGIN)).toEqual({ kind: 'wait', until: null })
  const merging = task(1, { name: 'merging', role: 'task' })
  expect(choose({ ...loop, tasks: [merging, ...loop.tasks.slice(1)] }, BEGIN)).toMatchObject({ kind: 'begin' })
})

test('what waits for another is passed over until that is done', () => {
  const loop = { ...aLoop([task(1, OPEN, [2]), task(2, OPEN)], {}, spec), width: 3 }
  expect(choose(loop, BEGIN)).toMatchObject({ kind: 'begin', task: { number: 2 } })
  const done = task(2, { name: 'done', at: BEGIN, how: 'it is' })
  expect(choose({ ...loop, tasks: [task(1, OPEN, [2]), done] }, BEGIN)).toMatchObject({ task: { number: 1 } })
})
