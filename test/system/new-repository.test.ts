import fs from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { CheckpointView } from '../../src/api/contract/session-view.ts'
import { allSaved, gitIn } from './git-project.ts'
import { House, until } from './house.ts'

let house: House
beforeEach(() => {
  house = new House()
})
afterEach(() => house.close())

it('our own files are in no checkpoint and in nobody’s status, also of a repository that came after them', async () => {
  const git = gitIn(house)
  await house.run('--name', 'idle', '--headless', '--', 'sleep', '1000')
  await until('its pages are there', () => (fs.existsSync(house.path('.agent', 'STATUS.md')) ? true : undefined))
  await git('init', '-q', '-b', 'main', '.')
  fs.writeFileSync(house.path('mine'), 'mine\n')
  await house.ok('checkpoint', 'idle')
  await house.ok('stop', 'idle')
  await allSaved(house, 'idle')
  for (const { commit } of await house.json<CheckpointView[]>('checkpoints', 'idle'))
    expect(await git('ls-tree', '-r', '--name-only', commit)).toBe('mine')
  await until('git is told', async () => ((await git('status', '--porcelain')) === '?? mine' ? true : undefined))
})
