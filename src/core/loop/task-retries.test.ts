import { expect, test } from 'vitest'
import type { Loop, LoopTask } from './loop-state.ts'
import { resetForRetry } from './task-retries.ts'

const SINCE = { head: 'h', tree: 't' }
const task = (number: number, traits: Partial<LoopTask> = {}): LoopTask =>
  ({ item: { key: `k${number}` }, number, state: { name: 'done' }, tries: [], forgivenTries: 0, ...traits }) as LoopTask
const blocked = task(2, {
  state: { name: 'blocked', at: 1, failure: { kind: 'conflict', reason: '', detail: '' } },
  tries: [{}, {}] as unknown as LoopTask['tries'],
  checkout: { cwd: '/w/2', branch: 'b-2', since: SINCE },
  conflicts: ['a'],
  isWorktreeRemoved: true,
})
const loop = { branch: 'b', tasks: [task(1), blocked, task(3)] } as unknown as Loop

test('resetForRetry opens a blocked task with its work, and forgives its earlier iterations', () => {
  const [one, two, three] = resetForRetry(loop, 'k2', { isFresh: false }).tasks
  expect(two).toMatchObject({
    number: 2,
    checkout: blocked.checkout,
    state: { name: 'open' },
    forgivenTries: 2,
    reopened: 0,
  })
  expect([one, three]).toEqual([loop.tasks[0], loop.tasks[2]])
})

test('a fresh retry gets a number, and so a worktree and a branch, that no task has had', () => {
  const two = resetForRetry(loop, 'k2', { isFresh: true }).tasks[1]
  expect(two).toMatchObject({
    number: 4,
    checkout: null,
    resolution: null,
    evidence: null,
    conflicts: [],
    isWorktreeRemoved: true,
  })
})
