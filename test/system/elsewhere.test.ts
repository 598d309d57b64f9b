import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { RestoredView } from '../../src/api/contract/session-view.ts'
import { expectRefusal } from './expect-refusal.ts'
import { allSaved, beginProject, gitIn } from './git-project.ts'
import { House, until } from './house.ts'

let house: House
let remote: string
beforeEach(async () => {
  house = new House()
  const git = await beginProject(house)
  remote = path.join(house.root, 'remote.git')
  await git('init', '-q', '--bare', '-b', 'main', remote)
  await git('remote', 'add', 'origin', remote)
  await git('push', '-q', 'origin', 'main')
})
afterEach(() => house.close())

/** Runs it to its end, and until all of it is on the remote. */
async function pushed(name: string, ...words: string[]): Promise<void> {
  await house.ok('run', '--push', 'origin', '--name', name, ...words)
  await allSaved(house, name)
  await until('it is pushed', async () => {
    const { push, checkpoint } = await house.status(name)
    return checkpoint !== null && push?.number === checkpoint.number ? true : undefined
  })
}

/** Only the remote is left, and a clone of it. */
async function loseMachine(): Promise<void> {
  await house.ok('daemon', 'stop')
  fs.rmSync(house.home.root, { recursive: true })
  fs.rmSync(house.project, { recursive: true })
  await gitIn(house, house.root)('clone', '-q', remote, house.project)
}

const refs = (): Promise<string> => gitIn(house)('for-each-ref', 'refs/oneshot')

it('the files of a command come back in a fresh clone: onto a branch, into a worktree, into their place', async () => {
  const git = gitIn(house)
  await pushed('com', '--headless', '--', 'sh', '-c', 'echo made > out')
  await pushed('cmd', '--headless', '--', 'true')
  expect(fs.readFileSync(house.path('.agent', 'command-com', 'RECOVERY.md'), 'utf8')).toContain(
    `oneshot restore command-com --from ${remote} --here`,
  )
  await loseMachine()
  await expectRefusal(house, ['resume', 'com', '--from', 'origin'], {
    exit: 6,
    code: 'cannot-restore',
    says: 'command-com was a command, and is not started twice',
    hint: 'oneshot restore command-com',
  })
  expect(await house.json('restore', 'com', '--from', 'origin')).toMatchObject({ branch: 'oneshot/command-com-2' })
  expect(await house.json('restore', 'com', '--from', remote), 'again').toMatchObject({
    branch: 'oneshot/command-com-2',
  })
  expect(await git('show', 'oneshot/command-com-2:out')).toBe('made')
  await house.ok('restore', 'com@2', '--worktree', path.join(house.root, 'beside'), '--branch', 'beside')
  expect(fs.readFileSync(path.join(house.root, 'beside', 'out'), 'utf8')).toBe('made\n')
  fs.writeFileSync(house.path('mine'), 'mine\n')
  const here = await house.json<RestoredView>('restore', 'com', '--here', '--yes')
  expect(here).toMatchObject({ branch: null, before: { number: 1 }, files: 2 })
  expect(fs.readdirSync(house.project).filter(name => !name.startsWith('.'))).toEqual(['README', 'out'])
  await house.ok('restore', 'command-com-before', '--here', '--yes')
  expect(fs.readFileSync(house.path('mine'), 'utf8')).toBe('mine\n')
  expect(await house.list()).toEqual([])
})

it('a look tells what would be done or refused, and leaves nothing behind', async () => {
  await house.ok('run', '--push', 'origin', '--agent', 'demo', '--name', 'far', 'steps=500 delay=50ms write=notes')
  await until('it writes', () => (fs.existsSync(house.path('notes')) ? true : undefined))
  await house.ok('stop', 'far')
  await allSaved(house, 'far')
  await until('it is pushed', async () => {
    const { push, checkpoint } = await house.status('far')
    return push?.number === checkpoint?.number ? true : undefined
  })
  const second = path.join(house.root, 'second')
  await gitIn(house, house.root)('clone', '-q', remote, second)
  const known = await house.call(['resume', 'far', '--from', 'origin'], { cwd: second })
  expect(known.stderr).toBe(
    `error: demo-far is a session of this machine, in ${house.project}\nhint: oneshot resume demo-far\n`,
  )
  await loseMachine()
  const remoteRefs = (): Promise<string> => gitIn(house)('ls-remote', 'origin', 'refs/oneshot/*')
  const before = await remoteRefs()
  const look = await house.ok('resume', 'far', '--from', 'origin', '--dry-run')
  expect(look).toMatch(
    /next +demo with autonomy ask: the working tree becomes that of checkpoint 2, and the branch stays; then a new conversation/,
  )
  expect(look).toContain('message 1: steps=500 delay=50ms write=notes')
  fs.writeFileSync(house.path('mine'), 'mine\n')
  const dirty = { exit: 6, code: 'cannot-restore', says: 'has changes of its own', hint: 'commit or stash' } as const
  await expectRefusal(house, ['resume', 'far', '--from', 'origin', '--dry-run'], dirty)
  expect(await refs()).toBe('')
  fs.rmSync(house.path('mine'))
  const unasked = await house.oneshot('resume', 'far', '--from', 'origin')
  expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringContaining('message 1: steps=500')])
  expect(unasked.stderr).toContain(
    'error: this would give these messages to an agent here\nhint: read them, and add --yes',
  )
  expect(await remoteRefs(), 'nothing was claimed').toBe(before)
  fs.writeFileSync(house.path('.oneshot.toml'), 'autonomy = "full"\n')
  await gitIn(house)('add', '.oneshot.toml')
  await gitIn(house)('commit', '-qm', 'more rights')
  await house.ok('resume', 'far', '--from', 'origin', '--yes')
  const { title, autonomy, id } = await house.status('far')
  expect([title, autonomy]).toEqual([expect.stringContaining('steps=500'), 'ask'])

  const third = path.join(house.root, 'third')
  const elsewhere = { ...house.env, ONESHOT_HOME: path.join(house.root, 'home-3') }
  await gitIn(house, house.root)('clone', '-q', remote, third)
  house.defer(() => house.call(['daemon', 'stop'], { cwd: third, env: elsewhere }))
  const old = before.split(/[/\n]/)[3] ?? ''
  const claimed = await house.call(['resume', old, '--from', 'origin', '--yes'], { cwd: third, env: elsewhere })
  expect([claimed.code, claimed.stderr]).toEqual([6, expect.stringContaining(`, as session ${id}\n`)])
  expect(claimed.stderr).toContain(`hint: if that machine is lost: oneshot resume ${old} --from origin --take-over`)
})
