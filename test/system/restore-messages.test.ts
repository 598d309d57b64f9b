import fs from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { expectRefusal } from './expect-refusal.ts'
import { waitForCheckpoints, initProject, gitIn } from './git-project.ts'
import { TestHome } from './test-home.ts'
import { Terminal } from './terminal.ts'

let testHome: TestHome
beforeAll(() => {
  testHome = new TestHome()
})
beforeEach(async () => {
  testHome.beginTest()
  await initProject(testHome)
})
afterEach(() => testHome.endTest())
afterAll(() => testHome.close())

async function made(name: string): Promise<void> {
  await testHome.run('--name', name, '--headless', '--', 'sh', '-c', `echo ${name} > ${name}`)
  await waitForCheckpoints(testHome, name)
}

it('restore names the folder and the commands to undo and to compare, and changes nothing after a no', async () => {
  await made('one')
  const terminal = await Terminal.open(testHome)
  await terminal.enter('oneshot restore one@1 --here; echo "code=$?"')
  await terminal.shows('Continue? [y/N]')
  await terminal.enter('n')
  expect(await terminal.shows('code=1')).toContain('nothing was changed')
  await terminal.enter('clear; oneshot restore one@2 --here --yes; echo "same=$?"')
  expect((await terminal.shows('same=0')).replaceAll('\n', '')).toContain('nothing to do: the files in')
  await terminal.enter('clear; oneshot restore one@1; echo "branch=$?"')
  const branch = await terminal.shows('branch=0')
  expect(branch).toContain('compare it with the present files: oneshot diff command-one 1 now')
  expect(branch).toContain('git worktree add DIR oneshot/command-one-1')
  await terminal.enter('clear; oneshot restore one@1 --here --yes; echo "back=$?"')
  const back = (await terminal.shows('back=0')).replaceAll('\n', '')
  expect(back).toContain(`checkpoint 1 of command-one is in ${testHome.project}`)
  expect(back).toContain('to undo this: oneshot restore command-one@2 --here')
  await terminal.enter('clear; oneshot clean one; echo "clean=$?"')
  expect((await terminal.shows('clean=0')).replaceAll('\n', '')).toContain(
    `refs/oneshot/command-one stays in ${testHome.project}; to restore its files there: oneshot restore command-one`,
  )
  expect(await testHome.ok('restore', 'command-one')).toBe('oneshot/command-one-2')
})

it('restore refuses wrong arguments before it asks, and names the mistake', async () => {
  await made('one')
  const usage = { exit: 2, code: 'usage' } as const
  await expectRefusal(testHome, ['restore', 'one@1', '--branch', 'a..b'], {
    ...usage,
    says: '"a..b" is no name for a branch',
    hint: '--branch',
  })
  await expectRefusal(testHome, ['restore', 'one@1', '--here', '--branch', 'b'], {
    ...usage,
    says: '--here cannot be combined with --branch or --worktree',
    hint: 'leave out',
  })
  await gitIn(testHome)('branch', 'mine')
  await expectRefusal(testHome, ['restore', 'one@1', '--branch', 'mine'], {
    exit: 6,
    code: 'cannot-restore',
    says: 'the branch mine exists already',
    hint: 'give another --branch',
  })
  await testHome.run('--name', 'idle', '--headless', '--', 'sleep', '1000')
  const atWork = { exit: 6, code: 'session-alive', says: 'command-idle is running in', hint: 'oneshot hold' } as const
  await expectRefusal(testHome, ['restore', 'one@1', '--here'], atWork)
})

it('diff compares checkpoints by NAME@N, and shows files of a nested repository separately', async () => {
  const nested = testHome.path('nested')
  fs.mkdirSync(nested)
  const git = gitIn(testHome, nested)
  await git('init', '-q', '.')
  await git('commit', '-qm', 'inside', '--allow-empty')
  await testHome.run(
    '-c',
    'nested=true',
    '--name',
    'one',
    '--headless',
    '--',
    'sh',
    '-c',
    'echo in > nested/in; echo out > out',
  )
  await waitForCheckpoints(testHome, 'one')
  const stat = await testHome.ok('diff', 'one', '1', '2', '--stat')
  expect(stat).toMatch(/^in nested\/\n in \| 1 \+$/m)
  expect(await testHome.ok('diff', 'one@1', 'one@2', '--stat')).toBe(stat)
  expect(await testHome.ok('diff', 'one@1', '--stat')).toBe(stat)
  await expectRefusal(testHome, ['diff', 'one@1', 'two@2'], {
    exit: 2,
    code: 'usage',
    says: 'one and two are two sessions',
    hint: 'one session',
  })
  expect(await testHome.oneshot('checkpoints', 'one', '-n', '0')).toMatchObject({ code: 0, stdout: '', stderr: '' })
  await expectRefusal(
    testHome,
    ['status'],
    { exit: 3, code: 'no-session', says: nested, hint: `command-one is in ${testHome.project}: name it` },
    { cwd: nested },
  )
  const at = (await testHome.json<{ at: string }[]>('events', 'one')).map(event => event.at)
  expect(at).toEqual(at.toSorted())
})
