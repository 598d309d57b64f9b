import { expect, test } from 'vitest'
import type { Task } from './tasks-and-tracker-issues.ts'
import { finishedIssues, type Issue, isIssueId, isSafeIssueId, keepSettled } from './tasks-and-tracker-issues.ts'

const READY: readonly Issue[] = ['bd-a1b2', 'bd-a1b2.1', 'bd-c3', 'web-app-7'].map(id => ({
  id,
  title: `issue ${id}`,
  state: 'open',
}))

function done(title: string, wishes: Partial<Task> = {}): Task {
  return { id: '1', title, state: 'done', source: 'agent', ...wishes }
}

const closedBy = (...tasks: Task[]): string[] => finishedIssues(tasks, { ready: READY, settled: [] })

test('a finished task closes the issue that has its id, or whose id its title contains', () => {
  expect(closedBy(done('whatever', { id: 'bd-c3' }))).toEqual(['bd-c3'])
  expect(closedBy(done('bd-a1b2: write tests'))).toEqual(['bd-a1b2'])
  expect(closedBy(done('[web-app-7] Write tests'))).toEqual(['web-app-7'])
  expect(closedBy(done('write tests (bd-c3).'))).toEqual(['bd-c3'])
  expect(closedBy(done('Finish bd-c3'), done('bd-c3 again'))).toEqual(['bd-c3'])
})

test('an id that is only a part of another one does not match', () => {
  expect(closedBy(done('bd-a1b2.1: write tests'))).toEqual(['bd-a1b2.1'])
  expect(closedBy(done('abd-c3, bd-c34, bd-c3-old, x.bd-c3'))).toEqual([])
})

test('a title with several ids stands for those at its start, and only mentions the others', () => {
  expect(closedBy(done('bd-c3, bd-a1b2 and web-app-7: tidy up'))).toEqual(['bd-c3', 'bd-a1b2', 'web-app-7'])
  expect(closedBy(done('bd-c3: learn from bd-a1b2'))).toEqual(['bd-c3'])
  expect(closedBy(done('Look how bd-a1b2 differs from bd-c3'))).toEqual([])
})

test('tasks that are not done, and settled issues, close nothing', () => {
  expect(closedBy(done('bd-c3', { state: 'doing' }), done('bd-c3', { state: 'open' }))).toEqual([])
  expect(finishedIssues([done('bd-c3'), done('bd-a1b2')], { ready: READY, settled: ['bd-c3'] })).toEqual(['bd-a1b2'])
})

test('a person may close an issue that is not ready by its id; an agent’s own numbers match no issue', () => {
  expect(closedBy(done('bd-zz', { id: 'bd-zz', source: 'user' }))).toEqual(['bd-zz'])
  expect(closedBy(done('step', { id: 'todo-1', source: 'agent' }))).toEqual([])
})

test('an issue stays settled while its task is done, listed or not', () => {
  const settled = ['bd-c3', 'bd-gone', 'bd-a1b2']
  const tasks = [done('bd-c3'), done('bd-gone: it'), done('bd-a1b2', { state: 'open' })]
  expect(keepSettled(tasks, { ready: READY, settled })).toEqual(['bd-c3', 'bd-gone'])
})

test('isIssueId distinguishes ids from other words, and no id looks like an option', () => {
  const ids = ['bd-a1b2', 'my-app-17.3', 'X-1', 'a_b-c_d', '2048-game-a1b', 'my.app-a1b.1', 'my--app-1']
  for (const id of ids) expect([id, isIssueId(id), isSafeIssueId(id)]).toEqual([id, true, true])
  expect(
    ['1', 'u1', '-x', '--all', 'bd-', 'bd', '', 'bd-a b', 'bd-1;rm', `bd-${'a'.repeat(90)}`].map(isIssueId),
  ).toEqual(Array.from({ length: 10 }, () => false))
  for (const word of ['-x', '', 'a b', 'a;rm', '.x', 'a'.repeat(65)]) expect(isSafeIssueId(word)).toBe(false)
})
