import fs from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { EventView } from '../../src/api/contract/responses.ts'
import { installFakeBd, BeadsProject } from '../../testkit/tracker/beads-project.ts'
import { TestHome, waitUntil } from '../system/test-home.ts'

let testHome: TestHome
let beads: BeadsProject
beforeEach(() => {
  testHome = new TestHome()
  beads = new BeadsProject(testHome.project)
  beads.create('write tests')
  testHome.env['PATH'] = `${installFakeBd(testHome.root)}:${process.env['PATH']}`
})
afterEach(() => testHome.close())

it('neither a session nor a loop runs bd in a clone with .beads before the user agrees', async () => {
  await testHome.run(
    '--name',
    'job',
    '--headless',
    '--',
    'sh',
    '-c',
    `until [ -e '${testHome.path('leave')}' ]; do sleep 0.02; done`,
  )
  const notes = async (): Promise<string[]> => {
    const events = await testHome.json<EventView[]>('events', 'job')
    return events.filter(({ type }) => type === 'session.noted').map(({ text }) => text)
  }
  await waitUntil('it is noted', async () => ((await notes()).length > 0 ? true : undefined))
  await testHome.ok('tasks', 'job', 'add', 'bd-a1: write tests')
  await testHome.ok('tasks', 'job', 'done', 'u1')
  fs.writeFileSync(testHome.path('leave'), '')
  expect(await testHome.ended('job')).toMatchObject({ outcome: 'done' })
  expect(await notes()).toEqual([
    'beads: this project has .beads: set beads = true in your own config to sync its tasks',
  ])

  const loop = await testHome.oneshot('ralph', '--agent', 'codex')
  expect(loop.stderr).toContain('bd is not run for .beads unless you say so')
  await testHome.ok('daemon', 'restart')

  fs.writeFileSync(testHome.path('.oneshot.toml'), 'beads = true\n')
  const wish = await testHome.oneshot('run', '--name', 'wish', '--headless', '--', 'true')
  expect(wish.code).not.toBe(0)
  expect(wish.stderr).toContain('beads')
  expect(beads.calls()).toEqual([])
})

it('oneshot runs bd for a user who agreed, and never has it push to a remote', async () => {
  testHome.env['BD_STANDIN'] = 'new'
  testHome.env['ONESHOT_BEADS'] = 'true'
  await testHome.run('--name', 'job', '--headless', '--', 'true')
  expect(await testHome.ended('job')).toMatchObject({ outcome: 'done' })
  await waitUntil('it is read', () => (beads.calls().some(([word]) => word === 'ready') ? true : undefined))
  await testHome.ok('daemon', 'stop')
  expect(beads.calls().filter(([word]) => word === 'dolt')).toEqual([])
})
