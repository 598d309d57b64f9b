import fs from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { SessionView } from '../../src/api/contract/responses.ts'
import type { Loop } from '../../src/core/loop/loop-state.ts'
import { readLoop } from '../../src/state/loop-file.ts'
import { run } from '../../src/os/run.ts'
import { TestHome } from './test-home.ts'
import { installScriptedAgent } from './scripted-agent.ts'

let testHome: TestHome
beforeEach(async () => {
  testHome = new TestHome({ GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' })
  installScriptedAgent(testHome)
})
afterEach(() => testHome.close())

async function shell(text: string): Promise<string> {
  const { code, stdout, stderr } = await run('sh', ['-ec', text], { cwd: testHome.project, env: testHome.env })
  expect({ code, stderr: code === 0 ? '' : stderr }, text).toEqual({ code: 0, stderr: '' })
  return stdout.trim()
}

const LIST = '- [ ] make it [good a.txt]\n- [ ] make it [idle|idle|good b.txt]\n'

async function failing({ list = LIST, args = [] }: { list?: string; args?: string[] }): Promise<SessionView> {
  await shell('git init -q -b main . && git config user.name n && git config user.email e@x')
  fs.writeFileSync(testHome.path('PRD.md'), list)
  await shell('git add . && git commit -qm first')
  const session = await testHome.json<SessionView>(
    'ralph',
    '--agent',
    'codex',
    '--no-verify',
    '--retries',
    '2',
    ...args,
  )
  expect(await testHome.ended(session.name, 60_000)).toMatchObject({ outcome: 'failed' })
  return session
}

function tasksOf({ id }: SessionView): string[] {
  const { tasks } = readLoop(testHome.home, id) as Loop
  return tasks.map(({ state, tries, number }) => `${number} ${state.name} ${tries.length}`)
}

it('ralph retry --fresh starts a task again although its worktree and branch are lost', async () => {
  const session = await failing({ args: ['--parallel', '1'] })
  expect(tasksOf(session)).toEqual(['1 done 1', '2 blocked 2'])
  await shell(
    'rm -rf .agent/worktrees; git worktree prune; git branch -q -D $(git branch --list "oneshot/*" --format="%(refname:short)")',
  )
  const refused = await testHome.oneshot('ralph', 'retry', '1')
  expect([refused.code, refused.stderr]).toEqual([expect.any(Number), expect.stringContaining('task 1 is done')])
  expect(refused.stderr).toContain(`untick its box in PRD.md, then: oneshot resume ${session.name}\n`)
  expect((await testHome.oneshot('ralph', 'retry', '9')).stderr).toContain('has no task 9')
  expect(await testHome.ok('ralph', 'retry', '2', '--fresh')).toContain(`${session.name} tries task 2 again`)
  expect(await testHome.ended(session.name, 60_000), await testHome.ok('log', session.name)).toMatchObject({
    outcome: 'done',
  })
  expect((await testHome.oneshot('ralph', 'retry', '1')).stderr, 'a loop that is done cannot be resumed').toContain(
    'untick its box in PRD.md, then: oneshot ralph PRD.md\n',
  )
  expect(tasksOf(session)).toEqual(['1 done 1', '3 done 3'])
  const { branch } = readLoop(testHome.home, session.id) as Loop
  expect((await shell(`git ls-tree --name-only ${branch}`)).split('\n')).toEqual(['PRD.md', 'a.txt', 'b.txt'])
})

it('ralph retry tries the named task alone, and a resume tries all blocked tasks', async () => {
  const session = await failing({
    list: '- [ ] make it [idle|idle|good a.txt]\n- [ ] make it [idle|idle|good b.txt]\n',
  })
  expect(tasksOf(session)).toEqual(['1 blocked 2', '2 blocked 2'])
  await testHome.ok('ralph', 'retry', '2')
  expect(await testHome.ended(session.name, 60_000)).toMatchObject({ outcome: 'failed' })
  expect(tasksOf(session)).toEqual(['1 blocked 2', '2 done 3'])
  await testHome.ok('resume', session.name)
  expect(await testHome.ended(session.name, 60_000)).toMatchObject({ outcome: 'done' })
  expect(tasksOf(session)).toEqual(['1 done 3', '2 done 3'])
})
