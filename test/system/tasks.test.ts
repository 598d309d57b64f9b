import fs from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { EventView, TaskView } from '../../src/api/contract/responses.ts'
import { binFolder } from './bin-folder.ts'
import { expectRefusal } from './expect-refusal.ts'
import { TestHome, isAlive, waitUntil } from './test-home.ts'
import { planningCodex, type Step } from './stub-agents.ts'

let testHome: TestHome
beforeEach(() => {
  testHome = new TestHome()
})
afterEach(() => testHome.close())

const tasksOf = (...words: string[]): Promise<TaskView[]> => testHome.json<TaskView[]>('tasks', ...words)

async function killSupervisor(): Promise<void> {
  const { pid, epoch } = await testHome.daemon()
  process.kill(pid, 'SIGKILL')
  await waitUntil('it is gone', () => (isAlive(pid) ? undefined : true))
  await waitUntil('another has come', async () => {
    const { code, stdout } = await testHome.oneshot('daemon', 'status', '--json')
    return code === 0 && (JSON.parse(stdout) as { epoch: number }).epoch > epoch ? true : undefined
  })
}

it('tasks adds tasks, changes their states, and shows them as a table', async () => {
  await testHome.run('--agent', 'demo', '--name', 'auth', 'steps=1000')
  expect(await testHome.ok('tasks', 'auth', 'add', 'write the tests')).toBe('u1')
  expect(await testHome.ok('tasks', 'add', 'tidy', 'up')).toBe('u2')
  expect(await testHome.ok('tasks', 'done', 'u1')).toBe('u1')
  expect(await tasksOf()).toEqual([
    { id: 'u2', title: 'tidy up', state: 'open', source: 'user' },
    { id: 'u1', title: 'write the tests', state: 'done', source: 'user' },
  ])
  await testHome.ok('tasks', 'auth', 'open', 'u1')
  await testHome.ok('tasks', 'auth', 'doing', 'u2')
  const rows = (await testHome.ok('tasks')).split('\n').map(line => line.split(/ {2,}/))
  expect(rows).toEqual([
    ['STATE', 'ID', 'SOURCE', 'TITLE'],
    ['◔ doing', 'u2', 'user', 'tidy up'],
    ['◌ open', 'u1', 'user', 'write the tests'],
  ])
  expect(await testHome.ok('tasks', '-q')).toBe('u2\nu1')
  const events = await testHome.json<EventView[]>('events', 'auth')
  expect(events.filter(({ type }) => type === 'task.changed').map(({ text }) => text)).toEqual([
    'task u1 is open: write the tests',
    'task u2 is open: tidy up',
    'task u1 is done: write the tests',
    'task u1 is open: write the tests',
    'task u2 is in progress: tidy up',
  ])
})

it('tasks refuses an unknown task or action and changes nothing', async () => {
  await testHome.run('--name', 'job', '--headless', '--', 'sleep', '1000')
  expect((await testHome.oneshot('tasks')).stderr).toBe(
    'command-job has no tasks; oneshot tasks command-job add "…" names one\n',
  )
  await testHome.ok('tasks', 'add', 'one')
  const none = { exit: 3, code: 'no-task', says: 'command-job has no task' } as const
  await expectRefusal(testHome, ['tasks', 'done', 'u11'], { ...none, hint: 'did you mean u1?' })
  await expectRefusal(testHome, ['tasks', 'done', 'bd-a1b2'], { ...none, hint: 'oneshot tasks command-job' })
  const unclear = { exit: 2, code: 'usage', says: 'cannot "don"', hint: 'did you mean done?' } as const
  await expectRefusal(testHome, ['tasks', 'job', 'don', 'u1'], unclear)
  expect(await tasksOf()).toEqual([{ id: 'u1', title: 'one', state: 'open', source: 'user' }])
})

it('tasks reads without a supervisor, and starts one for a change', async () => {
  await testHome.run('--name', 'job', '--headless', '--', 'true')
  await testHome.ended('job')
  await testHome.ok('tasks', 'job', 'add', 'look at it')
  await testHome.ok('daemon', 'stop')
  expect(await tasksOf('job')).toHaveLength(1)
  expect((await testHome.oneshot('daemon', 'status')).code).toBe(3)
  await testHome.ok('tasks', 'job', 'done', 'u1')
  expect(await tasksOf('job')).toMatchObject([{ id: 'u1', state: 'done' }])
})

it('tasks inside a session means the list of that session from any folder', async () => {
  testHome.env['PATH'] = `${binFolder(testHome)}:${process.env['PATH']}`
  const script = 'cd / && oneshot tasks add from within && oneshot tasks done u1 && oneshot tasks --json > "$0"'
  await testHome.run('--name', 'inner', '--headless', '--', 'sh', '-c', script, testHome.path('list'))
  await testHome.run('--name', 'newer', '--headless', '--', 'sleep', '1000')
  await testHome.ended('inner')
  const told = JSON.parse(fs.readFileSync(testHome.path('list'), 'utf8')) as TaskView[]
  expect(told).toEqual([{ id: 'u1', title: 'from within', state: 'done', source: 'user' }])
  expect(await tasksOf('inner')).toEqual(told)
  expect(await tasksOf('newer')).toEqual([])
})

it('tasks shows the agent’s plan beside the user’s tasks, and both survive kill -9 of the supervisor', async () => {
  const first: Step[] = [
    ['look', false],
    ['fix it', false],
  ]
  const second: Step[] = [
    ['look', true],
    ['fix it', false],
    ['ship it', false],
  ]
  const codex = planningCodex(testHome.project, [first, second])
  testHome.env['PATH'] = `${binFolder(testHome, { scripts: { codex } })}:${process.env['PATH']}`
  await testHome.run('--agent', 'codex', '--name', 'planner', 'do it')
  await waitUntil('it has planned', async () => ((await tasksOf('planner')).length === 2 ? true : undefined))
  await testHome.ok('tasks', 'planner', 'add', 'mine')
  await killSupervisor()
  const titles = async (): Promise<string[]> =>
    (await tasksOf('planner')).map(({ title, state, source }) => `${title}: ${state}, ${source}`)
  expect(await titles()).toEqual(['look: open, agent', 'fix it: open, agent', 'mine: open, user'])
  for (const name of ['go-1', 'end']) fs.writeFileSync(testHome.path(name), '')
  expect(await testHome.ended('planner')).toMatchObject({ outcome: 'done', attempt: 1 })
  expect((await titles()).toSorted()).toEqual([
    'fix it: open, agent',
    'look: done, agent',
    'mine: open, user',
    'ship it: open, agent',
  ])
})
