import { expect, test } from 'vitest'
import type { Task } from '../../core/session/tasks-and-tracker-issues.ts'
import type { TrackerSnapshot } from '../../core/session/tasks-and-tracker-issues.ts'
import { at } from '../../../testkit/views/page-data.ts'
import { hashTasks, renderLastState } from './tasks-page.ts'

const TASKS: readonly Task[] = [
  { id: '1', title: 'find the bug', state: 'done', source: 'agent' },
  { id: '2', title: 'fix | it', state: 'open', source: 'user' },
]
const TRACKER: TrackerSnapshot = {
  kind: 'beads',
  version: '1.3.0',
  at: at(9),
  hash: 'abc',
  ready: [{ id: 'bd-1', title: 'deploy', state: 'open' }],
  settled: [],
}

test('the page shows the tasks, the tracker’s issues and the hash of both', () => {
  const state = { name: 'claude-fix-auth', tasks: TASKS, tracker: TRACKER }
  expect(renderLastState(state, at(3))).toBe(`# Tasks of claude-fix-auth

- state: sha256 ${hashTasks(state)}
- changed: 2026-11-15T10:00:03.000Z
- tasks: 1 open of 2

| task | state | title | named by |
|---|---|---|---|
| 1 | done | find the bug | agent |
| 2 | open | fix \\| it | user |

## beads 1.3.0

As of 2026-11-15T10:00:09.000Z, its state was abc.

| ready | state | title |
|---|---|---|
| bd-1 | open | deploy |

\`\`\`sh
oneshot tasks claude-fix-auth
\`\`\`
`)
})

test('the hash covers the tasks and nothing else', () => {
  const state = { name: 'a', tasks: TASKS, tracker: TRACKER }
  expect(hashTasks({ ...state, name: 'b', tracker: { ...TRACKER, at: at(99) } })).toBe(hashTasks(state))
  const others = [
    { ...state, tasks: TASKS.slice(1) },
    { ...state, tasks: TASKS.map(task => ({ ...task, state: 'done' as const })) },
    { ...state, tracker: null },
    { ...state, tracker: { ...TRACKER, hash: 'abd' } },
  ]
  expect(new Set([state, ...others].map(hashTasks)).size).toBe(5)
  expect(hashTasks(state)).toMatch(/^[0-9a-f]{64}$/)
})

test('the page stays limited however many issues a tracker has ready', () => {
  const ready = Array.from({ length: 500 }, () => ({ id: 'a', title: 'x'.repeat(5_000), state: 'open' as const }))
  const page = renderLastState({ name: 'a', tasks: [], tracker: { ...TRACKER, ready } }, at(3))
  expect(page.split('\n').filter(line => line.startsWith('| a |'))).toHaveLength(200)
  expect(page.length).toBeLessThan(70_000)
})
