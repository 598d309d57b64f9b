import fs from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { OutlookView } from '../../src/api/contract/session-view.ts'
import { expectRefusal } from './expect-refusal.ts'
import { allSaved, beginProject, gitIn } from './git-project.ts'
import { House, until } from './house.ts'

let house: House
beforeEach(async () => {
  house = new House()
  await beginProject(house)
  await house.run('--agent', 'demo', '--name', 'half', 'steps=500 delay=50ms write=notes')
  await until('it writes', () => (fs.existsSync(house.path('notes')) ? true : undefined))
  await house.ok('stop', 'half')
  await allSaved(house, 'half')
})
afterEach(() => house.close())

const look = (cwd: string): Promise<OutlookView> =>
  house.call(['resume', 'half', '--dry-run', '--json'], { cwd }).then(({ stdout }) => JSON.parse(stdout))

it('resuming tells first that the files are not what they were', async () => {
  expect((await look(house.project)).found.join('\n')).not.toContain('differ')
  const git = gitIn(house)
  await git('switch', '-qc', 'other')
  await git('commit', '-qm', 'elsewhere', '--allow-empty')
  fs.writeFileSync(house.path('mine'), 'mine\n')
  const { found } = await look(house.project)
  expect(found).toContain('1 file differs from checkpoint 2')
  expect(found.at(-1)).toMatch(/^HEAD is at \w{10}, and was at \w{10} then$/)
  fs.rmSync(house.path('.git'), { recursive: true })
  expect((await look(house.project)).found.at(-1)).toMatch(/is not in a git repository: nothing can be saved$/)
})

it('a project that was moved is gone on with where it is now', async () => {
  const moved = `${house.project}-moved`
  fs.renameSync(house.project, moved)
  const gone = `the folder ${house.project} does not exist`
  const hint = 'if its project was moved: oneshot resume demo-half --cwd DIR'
  expect((await look(moved)).next).toBe(`nothing: ${gone} (${hint})`)
  await expectRefusal(house, ['resume', 'half'], { exit: 2, code: 'cwd-missing', says: gone, hint }, { cwd: moved })
  await house.call(['daemon', 'stop'], { cwd: moved })
  const alone = (await look(moved)).found.slice(0, 2)
  expect(alone).toEqual(['no supervisor is running', `its folder ${house.project} is gone`])
  const before = fs.statSync(`${moved}/notes`).size
  const { code } = await house.call(['resume', 'half', '--cwd', '.'], { cwd: moved })
  expect(code).toBe(0)
  await until('it writes on', () => (fs.statSync(`${moved}/notes`).size > before ? true : undefined))
  expect(
    await house.call(['status', 'half', '--json'], { cwd: moved }).then(({ stdout }) => JSON.parse(stdout)),
  ).toMatchObject({ cwd: moved, attempt: 2 })
  fs.mkdirSync(house.project)
})
