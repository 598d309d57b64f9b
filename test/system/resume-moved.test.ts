import fs from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { ResumePreview } from '../../src/api/contract/responses.ts'
import { expectRefusal } from './expect-refusal.ts'
import { waitForCheckpoints, initProject, gitIn } from './git-project.ts'
import { TestHome, waitUntil } from './test-home.ts'

let testHome: TestHome
beforeEach(async () => {
  testHome = new TestHome()
  await initProject(testHome)
  await testHome.run('--agent', 'demo', '--name', 'half', 'steps=500 delay=50ms write=notes')
  await waitUntil('it writes', () => (fs.existsSync(testHome.path('notes')) ? true : undefined))
  await testHome.ok('stop', 'half')
  await waitForCheckpoints(testHome, 'half')
})
afterEach(() => testHome.close())

const look = (cwd: string): Promise<ResumePreview> =>
  testHome.call(['resume', 'half', '--dry-run', '--json'], { cwd }).then(({ stdout }) => JSON.parse(stdout))

it('resume --dry-run reports that the files differ from the checkpoint', async () => {
  expect((await look(testHome.project)).found.join('\n')).not.toContain('differ')
  const git = gitIn(testHome)
  await git('switch', '-qc', 'other')
  await git('commit', '-qm', 'elsewhere', '--allow-empty')
  fs.writeFileSync(testHome.path('mine'), 'mine\n')
  const { found } = await look(testHome.project)
  expect(found).toContain('1 file differs from checkpoint 2')
  expect(found.at(-1)).toMatch(/^HEAD is at \w{10}, and was at \w{10} then$/)
  fs.rmSync(testHome.path('.git'), { recursive: true })
  expect((await look(testHome.project)).found.at(-1)).toMatch(/is not in a git repository: nothing can be saved$/)
})

it('resume --cwd continues a session in the folder to which its project was moved', async () => {
  const moved = `${testHome.project}-moved`
  fs.renameSync(testHome.project, moved)
  const gone = `the folder ${testHome.project} does not exist`
  const hint = 'if its project was moved: oneshot resume demo-half --cwd DIR'
  expect((await look(moved)).next).toBe(`nothing: ${gone} (${hint})`)
  await expectRefusal(testHome, ['resume', 'half'], { exit: 2, code: 'cwd-missing', says: gone, hint }, { cwd: moved })
  await testHome.call(['daemon', 'stop'], { cwd: moved })
  const alone = (await look(moved)).found.slice(0, 2)
  expect(alone).toEqual(['no supervisor is running', `its folder ${testHome.project} is gone`])
  const before = fs.statSync(`${moved}/notes`).size
  const { code } = await testHome.call(['resume', 'half', '--cwd', '.'], { cwd: moved })
  expect(code).toBe(0)
  await waitUntil('it writes on', () => (fs.statSync(`${moved}/notes`).size > before ? true : undefined))
  expect(
    await testHome.call(['status', 'half', '--json'], { cwd: moved }).then(({ stdout }) => JSON.parse(stdout)),
  ).toMatchObject({ cwd: moved, attempt: 2 })
  fs.mkdirSync(testHome.project)
})
