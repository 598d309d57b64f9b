import fs from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { CheckpointView } from '../../src/api/contract/responses.ts'
import { waitForCheckpoints, gitIn } from './git-project.ts'
import { TestHome, waitUntil } from './test-home.ts'

let testHome: TestHome
beforeEach(() => {
  testHome = new TestHome()
})
afterEach(() => testHome.close())

it('the .agent files are in no checkpoint and not in git status, also if git init came after them', async () => {
  const git = gitIn(testHome)
  await testHome.run('--name', 'idle', '--headless', '--', 'sleep', '1000')
  await waitUntil('its pages are there', () => (fs.existsSync(testHome.path('.agent', 'STATUS.md')) ? true : undefined))
  await git('init', '-q', '-b', 'main', '.')
  fs.writeFileSync(testHome.path('mine'), 'mine\n')
  await testHome.ok('checkpoint', 'idle')
  await testHome.ok('stop', 'idle')
  await waitForCheckpoints(testHome, 'idle')
  for (const { commit } of await testHome.json<CheckpointView[]>('checkpoints', 'idle'))
    expect(await git('ls-tree', '-r', '--name-only', commit)).toBe('mine')
  await waitUntil('git is told', async () => ((await git('status', '--porcelain')) === '?? mine' ? true : undefined))
})
