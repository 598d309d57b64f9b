import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { expectRefusal } from './expect-refusal.ts'
import { waitForCheckpoints, initProject } from './git-project.ts'
import { waitUntil, TestHome } from './test-home.ts'
import { Terminal } from './terminal.ts'

let testHome: TestHome
beforeAll(() => {
  testHome = new TestHome()
})
beforeEach(() => testHome.beginTest())
afterEach(() => testHome.endTest())
afterAll(() => testHome.close())

const RUN = ['run', '--headless', '--name', 'one'] as const

it('run outside a repository tells a user at a terminal, or with checkpoint options, that nothing is saved', async () => {
  const nothing = `no checkpoints here: ${testHome.project} is not a git repository`
  expect(await testHome.oneshot(...RUN, '--', 'true')).toMatchObject({ code: 0, stderr: '' })
  await testHome.ended('one')
  for (const wish of [
    ['--push', 'origin'],
    ['--checkpoints', 'branch'],
  ]) {
    const { code, stderr } = await testHome.oneshot(...RUN, ...wish, '--', 'true')
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(nothing) })
    await testHome.ended('one')
  }
  const terminal = await Terminal.open(testHome)
  await terminal.enter('oneshot run --name two --agent demo steps=1; echo "code=$?"')
  expect((await terminal.shows('code=0')).replaceAll('\n', '')).toContain(`${nothing} (git init)`)
  const refused = {
    exit: 3,
    code: 'no-repository',
    says: `${testHome.project} is not in a git`,
    hint: 'git init',
  } as const
  for (const command of ['checkpoint', 'checkpoints', 'diff']) await expectRefusal(testHome, [command, 'one'], refused)
  await expectRefusal(testHome, ['restore', 'one@1'], refused)
})

it('run --push refuses an unknown remote, and status reports that an unreachable one got nothing', async () => {
  const git = await initProject(testHome)
  const wanted = { exit: 3, code: 'no-remote', says: 'there is no git remote orgin' } as const
  await expectRefusal(testHome, [...RUN, '--push', 'orgin', '--', 'true'], {
    ...wanted,
    hint: 'git remote add orgin URL',
  })
  await git('remote', 'add', 'origin', `${testHome.root}/nowhere.git`)
  await expectRefusal(testHome, [...RUN, '--push', 'orgin', '--', 'true'], { ...wanted, hint: 'did you mean origin?' })
  await expectRefusal(testHome, [...RUN, '--push', 'origin', '--checkpoints', 'off', '--', 'true'], {
    exit: 2,
    code: 'usage',
    says: '--push has nothing to push',
    hint: 'leave one of them out',
  })
  await testHome.ok(...RUN, '--push', 'origin', '--', 'true')
  await waitForCheckpoints(testHome, 'one')
  const status = await waitUntil('it could not be pushed', async () => {
    const said = await testHome.ok('status', 'one')
    return said.includes('not pushed') ? said : undefined
  })
  expect(status).toMatch(/pushed +nothing is on origin yet/)
  expect(status).toMatch(/not pushed +.*nowhere\.git/)
  expect(status).not.toContain('not saved')
  expect(await testHome.status('one')).toMatchObject({
    checkpointTrouble: null,
    push: { remote: 'origin', number: null },
  })
})
