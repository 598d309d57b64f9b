import fs from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { expectRefusal } from './expect-refusal.ts'
import { waitForCheckpoints, initProject } from './git-project.ts'
import { TestHome } from './test-home.ts'
import { Terminal } from './terminal.ts'

const TOO_LARGE = 'big.bin has 60 MB, more than 50 MB'

let testHome: TestHome
beforeEach(async () => {
  testHome = new TestHome()
  await initProject(testHome)
})
afterEach(() => testHome.close())

function grow(): void {
  fs.writeFileSync(testHome.path('big.bin'), '')
  fs.truncateSync(testHome.path('big.bin'), 60 * 1024 * 1024)
}

it('stop, status, checkpoints and restore name a file that a checkpoint left out', async () => {
  await testHome.run('--name', 'idle', '--headless', '--', 'sleep', '1000')
  grow()
  fs.writeFileSync(testHome.path('small'), 'small\n')
  const terminal = await Terminal.open(testHome)
  await terminal.enter('oneshot stop idle; echo "code=$?"')
  const said = await terminal.shows('code=0')
  expect(said).toContain('saved in checkpoint 2: oneshot diff command-idle\n')
  expect(said).toContain(`left out: ${TOO_LARGE}`)
  expect(said).not.toContain('all is saved')
  expect(await testHome.ok('status', 'idle')).toMatch(new RegExp(`left out +${TOO_LARGE}`))
  expect(await testHome.ok('checkpoints', 'idle')).toContain(`left out: ${TOO_LARGE}`)
  const restored = await testHome.oneshot('restore', 'idle@2')
  expect(restored).toMatchObject({ code: 0, stderr: `not restored: ${TOO_LARGE}\n` })
})

it('checkpoint and status name a file that cannot be saved, even if nothing else has changed', async () => {
  await testHome.run('--name', 'idle', '--headless', '--', 'sleep', '1000')
  const first = await testHome.ok('checkpoint', 'idle')
  grow()
  expect(await testHome.oneshot('checkpoint', 'idle')).toMatchObject({
    code: 0,
    stdout: `${first}\n`,
    stderr: `left out: ${TOO_LARGE}\n`,
  })
  expect(JSON.parse(await testHome.ok('checkpoint', 'idle', '--json'))).toMatchObject({
    isNew: false,
    checkpoint: { leftOut: [TOO_LARGE] },
  })
  expect(await testHome.ok('status', 'idle')).toMatch(new RegExp(`left out +${TOO_LARGE}`))
})

it('restore keeps a file that grew too large, or refuses with the reason and an alternative', async () => {
  fs.writeFileSync(testHome.path('big.bin'), 'small\n')
  await testHome.run('--name', 'idle', '--headless', '--', 'true')
  await waitForCheckpoints(testHome, 'idle')
  grow()
  const restored = await testHome.oneshot('restore', 'idle@1', '--here', '--yes')
  expect(restored).toMatchObject({ code: 0, stderr: `not restored: ${TOO_LARGE}, and stays as it is\n` })
  fs.writeFileSync(testHome.path('big.bin'), 'other\n')
  await testHome.ok('checkpoint', 'idle')
  grow()
  await expectRefusal(testHome, ['restore', 'idle@1', '--here', '--yes'], {
    exit: 6,
    code: 'cannot-restore',
    says: 'big.bin would be lost, which is 60 MB large and not saved',
    hint: 'move it away and try again, or: oneshot restore command-idle@1 --worktree DIR',
  })
})
