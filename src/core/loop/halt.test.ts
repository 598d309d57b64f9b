import { describe, expect, test } from 'vitest'
import { makeLoopSpec } from '../../../testkit/core/loop-fixtures.ts'
import { newTask, newIteration } from './loop-updates.ts'
import { decideLoop } from './decide.ts'
import { evidenceOf } from './work-evidence.ts'
import { createLoop, type Loop } from './loop-state.ts'

const since = { head: null, tree: 't' }
const evidence = evidenceOf({ commits: [], commitCount: 0, now: since }, [])
const seen = { task: 'k1', iteration: 1, evidence, check: null, list: null, unresolved: [] } as const

/** Returns a loop whose first task is being verified and has no other try; `branch`: it works in worktrees. */
function judging(branch: string | null, retries = 1): Loop {
  const item = { key: 'k1', label: '1', title: 'one', path: [], body: '', after: [], isDone: false }
  const task = {
    ...newTask(item, 1),
    place: { cwd: '/', branch, since },
    tries: [newIteration(1, 'task', 0)],
    state: { name: 'verifying', role: 'task', finalOutput: '', failure: null } as const,
  }
  const loop = {
    ...createLoop(makeLoopSpec({ retries }), 0),
    stage: { name: 'working' } as const,
    branch,
    iterations: 1,
  }
  return { ...loop, tasks: [task, newTask({ ...item, key: 'k2', label: '2' }, 2)] }
}

describe('the loop starts no other task in the user’s checkout', () => {
  test.each([
    ['a rebase', [], 'a rebase is unfinished'],
    ['a bisection', [], 'a bisection is unfinished: end it with git bisect reset'],
    ['a merge', ['a.txt'], 'conflicts are left in a.txt'],
  ])('after a blocked task has left %s behind', (underWay, unresolved, why) => {
    const signal = { type: 'task.verified', at: 1, ...seen, underWay, unresolved } as const
    const { halt } = decideLoop(judging(null), signal)
    expect(halt).toMatch(new RegExp(`^task 1 left git in the middle of something \\(${why}.*git status shows`))
    expect(decideLoop(judging(null, 2), signal).halt, 'the next agent gets the reason first').toBeNull()
    expect(decideLoop(judging('oneshot/x'), signal).halt, 'worktrees are not shared').toBeNull()
  })

  test('when git cannot read that checkout', () => {
    const signal = { type: 'effect.failed', at: 1, task: 'k1', iteration: 1, reason: 'it is bare' } as const
    expect(decideLoop(judging(null), signal).halt).toBe('it is bare, since the agent of task 1 worked here')
    expect(decideLoop(judging(null, 2), signal).halt).toBeNull()
    expect(decideLoop(judging('oneshot/x'), signal).halt).toBeNull()
  })
})

test('committed conflict markers halt no loop: they hinder no other task', () => {
  const judged = decideLoop(judging(null), {
    type: 'task.verified',
    at: 1,
    ...seen,
    unresolved: ['a.txt'],
    underWay: null,
  })
  expect(judged).toMatchObject({ halt: null, tasks: [{ state: { name: 'blocked' } }, { state: { name: 'opening' } }] })
})
