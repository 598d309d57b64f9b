import { expect, test } from 'vitest'
import { createLoop, type Loop, type LoopTask, type TaskCheckout } from './loop-state.ts'
import { relocateCheckouts } from './relocate.ts'
import type { LoopSpec } from './spec.ts'
import { newTask } from './loop-updates.ts'

const SINCE = { head: 'c', tree: 't' }
const HERE: TaskCheckout = { cwd: '/old/shop', branch: null, since: SINCE }
const WORKTREE: TaskCheckout = { cwd: '/old/.agent/worktrees/prd-1/2/shop', branch: 'oneshot/prd-1-2', since: SINCE }

function loopOf(change: Partial<LoopTask>): Loop {
  const item = { key: 'one', label: '1', title: 'one', isDone: false, after: [] } as unknown as LoopTask['item']
  return { ...createLoop({} as LoopSpec, 0), tasks: [{ ...newTask(item, 1), ...change }] }
}

const OLD = { cwd: '/old/shop', worktrees: '/old/.agent/worktrees' }
const NEW = { cwd: '/new/shop', worktrees: '/new/.agent/worktrees' }

test('the folders of all tasks move with the project, and the same project changes nothing', () => {
  const state = { name: 'done', at: 1, how: 'seen' } as const
  const evidence = {} as NonNullable<LoopTask['evidence']>
  const previousCompletion = { state, checkout: HERE, resolution: WORKTREE, evidence }
  const loop = loopOf({ checkout: HERE, resolution: WORKTREE, previousCompletion })
  const moved = {
    checkout: { ...HERE, cwd: '/new/shop' },
    resolution: { ...WORKTREE, cwd: '/new/.agent/worktrees/prd-1/2/shop' },
  }
  expect(relocateCheckouts(loop, OLD)).toBe(loop)
  expect(relocateCheckouts(loop, NEW).tasks[0]).toEqual({
    ...loop.tasks[0],
    ...moved,
    previousCompletion: { ...previousCompletion, ...moved },
  })
})

test('a task in progress records that git could not trace all commands of its agent', () => {
  const state = { name: 'verifying', role: 'task', finalOutput: '', failure: null } as const
  const once = relocateCheckouts(loopOf({ state, checkout: HERE }), NEW)
  expect(once.tasks[0]?.checkout).toEqual({ ...HERE, cwd: '/new/shop', isMoved: true })
  expect(relocateCheckouts(once, NEW)).toBe(once)
})
