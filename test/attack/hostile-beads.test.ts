import fs from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { EventView } from '../../src/api/contract/session-view.ts'
import { beadsBin, BeadsProject } from '../../src/testkit/beads/project.ts'
import { House, until } from '../system/house.ts'

let house: House
let beads: BeadsProject
beforeEach(() => {
  house = new House()
  beads = new BeadsProject(house.project)
  beads.create('write tests')
  house.env['PATH'] = `${beadsBin(house.root)}:${process.env['PATH']}`
})
afterEach(() => house.close())

it('a clone with .beads has bd run neither by a session nor by a loop before its user agrees', async () => {
  await house.run(
    '--name',
    'job',
    '--headless',
    '--',
    'sh',
    '-c',
    `until [ -e '${house.path('leave')}' ]; do sleep 0.02; done`,
  )
  const notes = async (): Promise<string[]> => {
    const events = await house.json<EventView[]>('events', 'job')
    return events.filter(({ type }) => type === 'session.noted').map(({ text }) => text)
  }
  await until('it is noted', async () => ((await notes()).length > 0 ? true : undefined))
  await house.ok('tasks', 'job', 'add', 'bd-a1: write tests')
  await house.ok('tasks', 'job', 'done', 'u1')
  fs.writeFileSync(house.path('leave'), '')
  expect(await house.ended('job')).toMatchObject({ outcome: 'done' })
  expect(await notes()).toEqual([
    'beads: this project has .beads: set beads = true in your own config to sync its tasks',
  ])

  const loop = await house.oneshot('ralph', '--agent', 'codex')
  expect(loop.stderr).toContain('bd is not run for .beads unless you say so')
  await house.ok('daemon', 'restart')

  fs.writeFileSync(house.path('.oneshot.toml'), 'beads = true\n')
  const wish = await house.oneshot('run', '--name', 'wish', '--headless', '--', 'true')
  expect(wish.code).not.toBe(0)
  expect(wish.stderr).toContain('beads')
  expect(beads.calls()).toEqual([])
})

it('a user who agreed has it run, and it sends nothing to a remote', async () => {
  house.env['BD_STANDIN'] = 'new'
  house.env['ONESHOT_BEADS'] = 'true'
  await house.run('--name', 'job', '--headless', '--', 'true')
  expect(await house.ended('job')).toMatchObject({ outcome: 'done' })
  await until('it is read', () => (beads.calls().some(([word]) => word === 'ready') ? true : undefined))
  await house.ok('daemon', 'stop')
  expect(beads.calls().filter(([word]) => word === 'dolt')).toEqual([])
})
