import { execFileSync, spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { RestoredView } from '../../src/api/contract/responses.ts'
import { expectRefusal } from './expect-refusal.ts'
import { waitForCheckpoints, initProject, gitIn } from './git-project.ts'
import { MAIN, TestHome, waitUntil } from './test-home.ts'

let testHome: TestHome
let remote: string
beforeEach(async () => {
  testHome = new TestHome()
  const git = await initProject(testHome)
  remote = path.join(testHome.root, 'remote.git')
  await git('init', '-q', '--bare', '-b', 'main', remote)
  await git('remote', 'add', 'origin', remote)
  await git('push', '-q', 'origin', 'main')
})
afterEach(() => testHome.close())

/** Runs it to its end, and until all of it is on the remote. */
async function pushed(name: string, ...words: string[]): Promise<void> {
  await testHome.ok('run', '--push', 'origin', '--name', name, ...words)
  await waitForCheckpoints(testHome, name)
  await waitUntil('it is pushed', async () => {
    const { push, checkpoint } = await testHome.status(name)
    return checkpoint !== null && push?.number === checkpoint.number ? true : undefined
  })
}

/** Only the remote is left, and a clone of it. */
async function loseMachine(): Promise<void> {
  await testHome.ok('daemon', 'stop')
  fs.rmSync(testHome.home.root, { recursive: true })
  fs.rmSync(testHome.project, { recursive: true })
  await gitIn(testHome, testHome.root)('clone', '-q', remote, testHome.project)
}

const refs = (): Promise<string> => gitIn(testHome)('for-each-ref', 'refs/oneshot')

it('restore --from writes the files of a command onto a branch, into a worktree and into a fresh clone', async () => {
  const git = gitIn(testHome)
  await pushed('com', '--headless', '--', 'sh', '-c', 'echo made > out')
  await pushed('cmd', '--headless', '--', 'true')
  expect(fs.readFileSync(testHome.path('.agent', 'command-com', 'RECOVERY.md'), 'utf8')).toContain(
    `oneshot restore command-com --from ${remote} --here`,
  )
  await loseMachine()
  await expectRefusal(testHome, ['resume', 'com', '--from', 'origin'], {
    exit: 6,
    code: 'cannot-restore',
    says: 'command-com was a command, and is not started twice',
    hint: 'oneshot restore command-com',
  })
  expect(await testHome.json('restore', 'com', '--from', 'origin')).toMatchObject({ branch: 'oneshot/command-com-2' })
  expect(await testHome.json('restore', 'com', '--from', remote), 'again').toMatchObject({
    branch: 'oneshot/command-com-2',
  })
  expect(await git('show', 'oneshot/command-com-2:out')).toBe('made')
  await testHome.ok('restore', 'com@2', '--worktree', path.join(testHome.root, 'beside'), '--branch', 'beside')
  expect(fs.readFileSync(path.join(testHome.root, 'beside', 'out'), 'utf8')).toBe('made\n')
  fs.writeFileSync(testHome.path('mine'), 'mine\n')
  const here = await testHome.json<RestoredView>('restore', 'com', '--here', '--yes')
  expect(here).toMatchObject({ branch: null, before: { number: 1 }, files: 2 })
  expect(fs.readdirSync(testHome.project).filter(name => !name.startsWith('.'))).toEqual(['README', 'out'])
  await testHome.ok('restore', 'command-com-before', '--here', '--yes')
  expect(fs.readFileSync(testHome.path('mine'), 'utf8')).toBe('mine\n')
  expect(await testHome.list()).toEqual([])
})

it('resume --from --dry-run tells what it would do or refuse, and changes nothing', {
  tags: ['extended'],
}, async () => {
  await testHome.ok('run', '--push', 'origin', '--agent', 'demo', '--name', 'far', 'steps=500 delay=50ms write=notes')
  await waitUntil('it writes', () => (fs.existsSync(testHome.path('notes')) ? true : undefined))
  await testHome.ok('stop', 'far')
  await waitForCheckpoints(testHome, 'far')
  await waitUntil('it is pushed', async () => {
    const { push, checkpoint } = await testHome.status('far')
    return push?.number === checkpoint?.number ? true : undefined
  })
  const second = path.join(testHome.root, 'second')
  await gitIn(testHome, testHome.root)('clone', '-q', remote, second)
  const known = await testHome.call(['resume', 'far', '--from', 'origin'], { cwd: second })
  expect(known.stderr).toBe(
    `error: demo-far is a session of this machine, in ${testHome.project}\nhint: oneshot resume demo-far\n`,
  )
  await loseMachine()
  const remoteRefs = (): Promise<string> => gitIn(testHome)('ls-remote', 'origin', 'refs/oneshot/*')
  const before = await remoteRefs()
  const look = await testHome.ok('resume', 'far', '--from', 'origin', '--dry-run')
  expect(look).toMatch(
    /next +demo with autonomy ask: the working tree becomes that of checkpoint 2, and the branch stays; then a new conversation/,
  )
  expect(look).toContain('message 1: steps=500 delay=50ms write=notes')
  fs.writeFileSync(testHome.path('mine'), 'mine\n')
  const dirty = { exit: 6, code: 'cannot-restore', says: 'has changes of its own', hint: 'commit or stash' } as const
  await expectRefusal(testHome, ['resume', 'far', '--from', 'origin', '--dry-run'], dirty)
  expect(await refs()).toBe('')
  fs.rmSync(testHome.path('mine'))
  const unasked = await testHome.oneshot('resume', 'far', '--from', 'origin')
  expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringContaining('message 1: steps=500')])
  expect(unasked.stderr).toContain(
    'error: this would give these messages to an agent here\nhint: read them, and add --yes',
  )
  expect(await remoteRefs(), 'nothing was claimed').toBe(before)
  fs.writeFileSync(testHome.path('.oneshot.toml'), 'autonomy = "full"\n')
  await gitIn(testHome)('add', '.oneshot.toml')
  await gitIn(testHome)('commit', '-qm', 'more rights')
  await testHome.ok('resume', 'far', '--from', 'origin', '--yes')
  const { title, autonomy, id } = await testHome.status('far')
  expect([title, autonomy]).toEqual([expect.stringContaining('steps=500'), 'ask'])

  const third = path.join(testHome.root, 'third')
  const elsewhere = { ...testHome.env, ONESHOT_HOME: path.join(testHome.root, 'home-3') }
  await gitIn(testHome, testHome.root)('clone', '-q', remote, third)
  testHome.defer(() => testHome.call(['daemon', 'stop'], { cwd: third, env: elsewhere }))
  const old = before.split(/[/\n]/)[3] ?? ''
  const claimed = await testHome.call(['resume', old, '--from', 'origin', '--yes'], { cwd: third, env: elsewhere })
  expect([claimed.code, claimed.stderr]).toEqual([6, expect.stringContaining(`, as session ${id}\n`)])
  expect(claimed.stderr).toContain(`hint: if that machine is lost: oneshot resume ${old} --from origin --take-over`)
})

it('run --push leaves secret files out of the remote, and --push-untracked takes them along', async () => {
  const filesOf = async (name: string): Promise<string[]> => {
    const git = gitIn(testHome, remote)
    const ref = await git('for-each-ref', '--format=%(refname)', `refs/oneshot/command-${name}`)
    return (await git('ls-tree', '-r', '--name-only', ref)).split('\n')
  }
  fs.writeFileSync(testHome.path('.env'), 'TOKEN=secret\n')
  await pushed('safe', '--headless', '--', 'sh', '-c', 'echo made > out')
  expect(await filesOf('safe')).toEqual(['README', 'out'])
  await pushed('whole', '--push-untracked', '--headless', '--', 'sh', '-c', 'echo made > other')
  expect(await filesOf('whole')).toEqual(['.env', 'README', 'other', 'out'])
})

it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  '%s to a command that reads a hanging remote ends the command and its git processes',
  async signal => {
    const slow = path.join(testHome.root, 'slow.git')
    fs.cpSync(remote, slow, { recursive: true })
    fs.rmSync(path.join(slow, 'HEAD'))
    execFileSync('mkfifo', [path.join(slow, 'HEAD')])
    const processes = (): string[] =>
      execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
        .split('\n')
        .filter(line => line.includes('upload-pack') && line.includes(slow))
    const command = spawn(process.execPath, [MAIN, 'resume', 'x', '--from', slow, '--dry-run'], {
      cwd: testHome.project,
      env: testHome.env,
      stdio: 'ignore',
    })
    const ended = new Promise<string | null>(resolve => command.on('exit', (_, by) => resolve(by)))
    await waitUntil('git waits for the remote', () => Promise.resolve(processes().length > 0 ? true : undefined))
    command.kill(signal)
    expect(await ended).toBe(signal)
    await waitUntil('git has ended', () => Promise.resolve(processes().length === 0 ? true : undefined))
  },
)

it('resume and restore say that a record on the remote is unreadable, and not that there are no checkpoints', async () => {
  const git = gitIn(testHome)
  await pushed('com', '--headless', '--', 'true')
  await loseMachine()
  const [ref = ''] = (await gitIn(testHome, remote)('for-each-ref', '--format=%(refname)', 'refs/oneshot')).split('\n')
  await git('fetch', '-q', 'origin', ref)
  const message = await git('log', '-1', '--format=%B', 'FETCH_HEAD')
  const publish = async (text: string): Promise<void> => {
    const commit = await git('commit-tree', '-m', text, 'FETCH_HEAD^{tree}')
    await git('push', '-q', '--force', 'origin', `${commit}:${ref}`)
  }
  await publish('not a checkpoint')
  for (const command of ['resume', 'restore'])
    await expectRefusal(testHome, [command, 'com', '--from', 'origin'], {
      exit: 6,
      code: 'cannot-restore',
      says: 'the newest checkpoint of command-com on origin cannot be read: its record is damaged or of a newer version',
      hint: `git fetch origin ${ref}`,
    })
  await publish(message.replace(/^\{.*$/m, '{"rubbish":1}'))
  await expectRefusal(testHome, ['resume', 'com', '--from', 'origin'], {
    exit: 6,
    code: 'cannot-restore',
    says: 'the record of command-com on origin cannot be read',
    hint: 'oneshot restore command-com --from origin',
  })
})
