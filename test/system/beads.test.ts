import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EventView, TaskView } from '../../src/api/contract/responses.ts'
import { installFakeBd, BeadsProject } from '../../testkit/tracker/beads-project.ts'
import { binFolder } from './bin-folder.ts'
import { TestHome, isAlive, waitUntil } from './test-home.ts'
import { planningCodex } from './stub-agents.ts'

let testHome: TestHome
let beads: BeadsProject
beforeEach(() => {
  testHome = new TestHome()
  beads = new BeadsProject(testHome.project)
  testHome.env['ONESHOT_BEADS'] = 'true'
  testHome.env['PATH'] = `${installFakeBd(testHome.root)}:${process.env['PATH']}`
})
afterEach(() => testHome.close())

const tasksOf = (name: string): Promise<TaskView[]> => testHome.json<TaskView[]>('tasks', name)

async function notesOf(name: string): Promise<string[]> {
  const events = await testHome.json<EventView[]>('events', name)
  return events.filter(({ type }) => type === 'session.noted').map(({ text }) => text)
}

/** A program that waits for leave to end. */
const patient = (): string[] => ['sh', '-c', `until [ -e '${testHome.path('leave')}' ]; do sleep 0.02; done`]
const leave = (): void => fs.writeFileSync(testHome.path('leave'), '')
const waiting = (): Promise<true> =>
  waitUntil('bd waits', () => (beads.lines('waiting').length > 0 ? (true as const) : undefined))

describe.each(['old', 'new', 'latest'])('the supervisor with beads (%s)', release => {
  beforeEach(() => {
    testHome.env['BD_STANDIN'] = release
  })

  it('shows ready issues among the tasks of the session and closes an issue by its id', async () => {
    const [first = '', second = ''] = ['write tests', 'fix it'].map(title => beads.create(title))
    const { id } = await testHome.run('--name', 'job', '--headless', '--', ...patient())
    await waitUntil('it is seen', async () => ((await tasksOf('job')).length === 2 ? true : undefined))
    expect(await tasksOf('job')).toContainEqual({ id: first, title: 'write tests', state: 'open', source: 'beads' })
    await testHome.ok('tasks', 'job', 'done', first)
    await waitUntil('it is closed', () => (beads.status(first) === 'closed' ? true : undefined))
    expect(beads.lines('closed')).toEqual([`${first} finished by command-job, oneshot session ${id}`])
    const listed = (): Promise<string[]> => tasksOf('job').then(all => all.map(task => `${task.id} ${task.state}`))
    expect(await listed()).toEqual([`${second} open`, `${first} done`])
    leave()
    expect(await testHome.ended('job')).toMatchObject({ outcome: 'done' })
    const file = path.join(testHome.home.sessions, id, 'tracker.json')
    await waitUntil('its end is written down', () =>
      beads.calls().length > 0 && fs.existsSync(file) ? true : undefined,
    )
    expect(fs.statSync(file).mode & 0o777).toBe(0o600)
    expect(await notesOf('job')).toEqual([])
    expect(beads.lines('git-touched')).toEqual([])
  })
})

describe('the supervisor', () => {
  for (const manner of ['slow-to-close', 'slow-to-answer'])
    it(`closes an issue that the agent’s plan ticks off exactly once, despite its kill while bd is ${manner}`, async () => {
      const issue = beads.create('write tests')
      const codex = planningCodex(testHome.project, [
        [[`${issue}: write them`, false]],
        [[`${issue}: write them`, true]],
      ])
      testHome.env['PATH'] = `${binFolder(testHome, { scripts: { codex } })}:${testHome.env['PATH']}`
      const { id } = await testHome.run('--agent', 'codex', '--name', 'job', 'do it')
      await waitUntil('it is seen', async () => ((await tasksOf('job')).length === 2 ? true : undefined))
      beads.setBehavior(manner)
      fs.writeFileSync(testHome.path('go-1'), '')
      await waiting()
      const { pid } = await testHome.daemon()
      process.kill(pid, 'SIGKILL')
      await waitUntil('it is gone', () => (isAlive(pid) ? undefined : true))
      beads.setBehavior()
      beads.release()
      await waitUntil('it is closed', () => (beads.status(issue) === 'closed' ? true : undefined))
      fs.writeFileSync(testHome.path('end'), '')
      expect(await testHome.ended('job')).toMatchObject({ outcome: 'done', attempt: 1 })
      const tracked = (): { settled: string[]; ready: unknown[] } =>
        JSON.parse(fs.readFileSync(path.join(testHome.home.sessions, id, 'tracker.json'), 'utf8'))
      await waitUntil('it is settled', () => (tracked().settled.includes(issue) ? true : undefined))
      expect(tracked().ready).toEqual([])
      expect(beads.lines('closed')).toEqual([`${issue} finished by codex-job, oneshot session ${id}`])
    })

  it('closes an issue after the end of the session if the supervisor before stopped first', async () => {
    const issue = beads.create('write tests')
    await testHome.run('--name', 'job', '--headless', '--', 'true')
    await testHome.ended('job')
    await waitUntil('it is seen', async () => ((await tasksOf('job')).length === 1 ? true : undefined))
    beads.setBehavior('hanging')
    await testHome.ok('tasks', 'job', 'done', issue)
    await waiting()
    await testHome.ok('daemon', 'stop')
    expect(beads.status(issue)).toBe('open')
    beads.setBehavior()
    await testHome.ok('daemon', 'start')
    await waitUntil('it is closed', () => (beads.status(issue) === 'closed' ? true : undefined))
  })
})

describe('the supervisor', () => {
  const endsAsUsual = async (name: string): Promise<void> => {
    await waitUntil('it is noted', async () => ((await notesOf(name)).length > 0 ? true : undefined))
    leave()
    expect(await testHome.ended(name)).toMatchObject({ outcome: 'done', attempt: 1 })
    expect(await notesOf(name)).toHaveLength(1)
  }

  it('records once that bd is missing, and the session ends as usual', async () => {
    testHome.env['PATH'] = process.env['PATH']
    await testHome.run('--name', 'job', '--headless', '--', ...patient())
    await endsAsUsual('job')
    expect(await notesOf('job')).toEqual([
      'beads: looking for bd: it is not on the PATH of the session; the work continues without it',
    ])
  })

  it.each([
    ['failing', 'beads: running bd version: it does not tell its version; the work continues without it'],
    ['killed', 'beads: running bd version: it was killed by SIGKILL; the work continues without it'],
  ])('records once that bd is %s, and the session ends as usual', async (manner, note) => {
    beads.setBehavior(manner)
    await testHome.run('--name', 'job', '--headless', '--', ...patient())
    await testHome.ok('tasks', 'job', 'add', 'one')
    await endsAsUsual('job')
    expect(await notesOf('job')).toEqual([note])
  })

  it('records once that the answer of bd is not JSON, and the session ends as usual', async () => {
    beads.create('write tests')
    await testHome.run('--name', 'job', '--headless', '--', ...patient())
    await waitUntil('it is seen', async () => ((await tasksOf('job')).length === 1 ? true : undefined))
    beads.setBehavior('garbage')
    await testHome.ok('tasks', 'job', 'add', 'one')
    await endsAsUsual('job')
    expect(await notesOf('job')).toEqual([
      'beads: running bd list: its answer is not JSON; the work continues without it',
    ])
  })

  it('ends a bd that hangs, records it once, and delays no session', async () => {
    beads.setBehavior('hanging')
    testHome.env['ONESHOT_TEST_TIMINGS'] = 'trackerTimeout=1000'
    await testHome.run('--name', 'quick', '--headless', '--', 'true')
    expect(await testHome.ended('quick')).toMatchObject({ outcome: 'done' })
    await testHome.run('--name', 'job', '--headless', '--', ...patient())
    await waiting()
    const pid = Number(beads.lines('waiting')[0])
    await waitUntil('it is given up', async () => ((await notesOf('quick')).length > 0 ? true : undefined))
    await waitUntil('it is ended', () => (isAlive(pid) ? undefined : true))
    expect(await notesOf('quick')).toEqual([
      'beads: asking for its version: no answer within 1 s; the work continues without it',
    ])
    const story = (await testHome.json<EventView[]>('events', 'quick')).map(({ type }) => type)
    expect(story.slice(-2)).toEqual(['session.ended', 'session.noted'])
    leave()
    expect(await testHome.ended('job')).toMatchObject({ outcome: 'done' })
  })
})
