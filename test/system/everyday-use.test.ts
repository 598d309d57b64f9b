import fs from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { CheckpointView, SessionView } from '../../src/api/contract/responses.ts'
import { run } from '../../src/os/run.ts'
import { isAlive, waitUntil, TestHome } from './test-home.ts'

let testHome: TestHome
beforeAll(() => {
  testHome = new TestHome({ ONESHOT_TEST_TIMINGS: 'editDelay=300' })
})
beforeEach(() => testHome.beginTest())
afterEach(() => testHome.endTest())
afterAll(() => testHome.close())

const sleeper = (name: string): string[] => ['run', '--name', name, '--headless', '--', 'sleep', '1000']

describe('everyday commands:', () => {
  it('stop takes several sessions; kill, ps and rm mean stop, list and clean', async () => {
    for (const name of ['a', 'b', 'c']) await testHome.ok(...sleeper(name))
    const stopped = await testHome.json<SessionView[]>('stop', 'a', 'b')
    expect(stopped.map(({ name, outcome }) => [name, outcome])).toEqual([
      ['command-a', 'stopped'],
      ['command-b', 'stopped'],
    ])
    await testHome.ok('kill', 'c')
    expect(await testHome.ok('ps', '-q')).toMatch(/command-c/)
    await testHome.ok('rm', 'a', 'b')
    expect((await testHome.list()).map(({ name }) => name)).toEqual(['command-c'])
    expect((await testHome.oneshot('top')).stderr).toContain('did you mean: oneshot list --watch?')
    expect((await testHome.oneshot('pause', 'c')).stderr).toContain('did you mean: oneshot hold?')
  })

  it('stop --now kills a program that ignores SIGINT and SIGTERM', async () => {
    const stubborn = 'trap "" INT TERM; echo ready; while :; do sleep 1; done'
    const session = await testHome.run('--name', 'stubborn', '--headless', '--', 'sh', '-c', stubborn)
    await waitUntil('it listens to nobody', () => testHome.output(session).includes('ready') || undefined)
    await testHome.ok('stop', '--now', 'stubborn')
    const story = await testHome.ok('events', 'stubborn')
    expect(story).toContain('oneshot kills it')
    expect(story).not.toMatch(/oneshot (interrupts|terminates) it/)
  })

  it('restart gives a command a new process', async () => {
    await testHome.ok(...sleeper('job'))
    const { pid } = await testHome.status('job')
    expect(await testHome.ok('status', 'job')).toMatch(/uses +\S+ \w*B of memory in 1 process, \S.* of CPU/)
    expect(JSON.parse(await testHome.ok('status', 'job', '--field', 'usage'))).toMatchObject({ processes: 1 })
    await testHome.ok('restart', 'job')
    const again = await waitUntil('it runs again', async () => {
      const view = await testHome.status('job')
      return view.phase === 'running' && view.pid !== null ? view : undefined
    })
    expect(again).toMatchObject({ attempt: 2 })
    expect(again.pid).not.toBe(pid)
    expect(isAlive(pid ?? 0)).toBe(false)
    expect(await testHome.ok('status', 'job', '--field', 'attempt')).toBe('2')
    expect((await testHome.oneshot('status', 'job', '--field', 'pdi')).stderr).toContain('did you mean pid?')
  })
})

describe('names and folders of sessions:', () => {
  it('rename gives a session a second name, and commands find it under both', async () => {
    await testHome.ok(...sleeper('job'))
    await testHome.ok(...sleeper('other'))
    await testHome.ok('rename', 'job', 'login')
    expect(await testHome.ok('list')).toMatch(/^login +● running/m)
    expect(await testHome.ok('status', 'login', '--field', 'name')).toBe('command-job')
    expect(await testHome.ok('status', 'job')).toMatch(/running login[^]*name +command-job/)
    expect((await testHome.oneshot('rename', 'other', 'login')).stderr).toContain('command-job is already called login')
    expect((await testHome.oneshot('rename', 'other', 'Log in')).stderr).toContain(
      'try oneshot rename command-other log-in',
    )
    expect((await testHome.oneshot('rename', 'other')).code).toBe(2)
    await testHome.ok('stop', 'login')
    expect(await testHome.ok('events', 'job')).toContain('renamed to login')
  })

  it('commands and refusals show the new name of a renamed session', async () => {
    await testHome.ok('run', '--agent', 'demo', '--name', 'job', 'work steps=1000 delay=50ms')
    await testHome.ok('rename', 'job', 'login')
    const refused = await testHome.oneshot('resume', 'login')
    expect(refused.stderr).toMatch(/login is (starting|running): there is nothing to resume\n.*oneshot status login\n$/)
    expect(await testHome.ok('hold', 'login')).toContain('login: held by you')
    expect(await testHome.ok('status', 'login')).toContain('oneshot resume login')
    expect(await testHome.ok('resume', 'login')).toBe('login')
    await testHome.ok('stop', 'login')
    expect((await testHome.oneshot('hold', 'login')).stderr).not.toContain('demo-job')
  })

  it('stop, hold and clean accept the new name of a renamed session', async () => {
    await testHome.ok(...sleeper('job'))
    await testHome.ok('rename', 'job', 'login')
    const refused = await testHome.oneshot('clean', 'login')
    expect(refused).toMatchObject({
      code: 6,
      stderr: expect.stringMatching(/login has not ended, so it stays\n.*oneshot stop login$/m),
    })
    expect(await testHome.ok('stop', 'login')).toContain('login')
    expect((await testHome.oneshot('hold', 'login')).stderr).toContain('login has already ended')
    expect(await testHome.ok('clean', '--dry-run', 'login')).toBe('login')
    expect(await testHome.json('clean', '--dry-run', 'login')).toEqual({ wouldRemove: ['command-job'] })
    expect(await testHome.ok('clean', 'login')).toBe('login')
    expect(await testHome.list()).toEqual([])
  })

  it('a done session accepts a message after its project was moved and resume --cwd named the new folder', async () => {
    const { cwd } = await testHome.run('--agent', 'demo', '--name', 'moved', 'steps=1')
    await testHome.ok('wait', 'moved')
    const moved = `${cwd}-moved`
    fs.renameSync(cwd, moved)
    const refused = await testHome.call(['send', 'moved', 'steps=1'], { cwd: moved })
    expect(refused.stderr).toContain('oneshot resume demo-moved --cwd DIR')
    expect(await testHome.call(['resume', 'moved', '--cwd', '.'], { cwd: moved })).toMatchObject({ code: 0 })
    expect(await testHome.call(['send', 'moved', 'steps=1'], { cwd: moved })).toMatchObject({ code: 0, stdout: '2\n' })
    expect(await testHome.call(['wait', 'moved'], { cwd: moved })).toMatchObject({ code: 0 })
    fs.renameSync(moved, cwd)
  })
})

describe('oneshot list', () => {
  it('shows the ids of sessions with one name, filters by state, and shows held sessions', async () => {
    const other = path.join(testHome.root, 'other')
    fs.mkdirSync(other)
    const run = (...args: string[]): string[] => ['run', '--name', 'twin', '--headless', ...args]
    await testHome.ok(...run('--', 'true'))
    await testHome.ended('twin')
    await testHome.ok(...run('--cwd', other, '--', 'sh', '-c', 'exit 3'))
    await waitUntil('both have ended', async () =>
      (await testHome.list()).every(({ phase }) => phase === 'ended') ? true : undefined,
    )
    const ids = (await testHome.list()).map(({ id }) => id)
    const table = await testHome.ok('list')
    for (const id of ids) expect(table).toContain(id)
    expect((await testHome.status('twin')).cwd).toBe(testHome.project)
    expect((await testHome.call(['wait', 'twin', '--json'], { cwd: other })).code).toBe(3)
    expect(JSON.parse(await testHome.ok('list', '--state', 'failed', '--json'))).toMatchObject([{ cwd: other }])
    await testHome.ok(...sleeper('still'))
    await testHome.ok('hold', 'still')
    expect(await testHome.ok('list', '--live')).toContain('‖ held')
  })
})

describe('the supervisor and its sessions:', () => {
  it('an event names the processes that a command left running; wait --json keeps stderr empty', async () => {
    await testHome.ok('run', '--name', 'litter', '--headless', '--', 'sh', '-c', 'setsid sleep 1000 & sleep 0.2')
    const waited = await testHome.oneshot('wait', 'litter', '--json')
    expect(waited).toMatchObject({ code: 0, stderr: '' })
    expect(await testHome.ok('events', 'litter')).toContain('1 process that it left running was ended')
  })

  it('the supervisor finds tmux on the caller’s PATH, and daemon log --json prints its log', async () => {
    const bare = path.join(testHome.root, 'bare')
    fs.mkdirSync(bare)
    for (const name of ['sh', 'sleep', 'date', 'cat', 'rm', 'sed'])
      fs.symlinkSync((await run('which', [name])).stdout.trim(), path.join(bare, name))
    await testHome.call(['daemon', 'start'], { env: { PATH: bare } })
    await testHome.ok(...sleeper('found'))
    const lines = (await testHome.ok('daemon', 'log', '--json')).split('\n').map(line => JSON.parse(line) as object)
    expect(lines).toContainEqual({ at: expect.any(String), text: expect.stringContaining('command-found') })
  })

  it('the supervisor saves a checkpoint after each edit of the demo agent', async () => {
    await run('git', ['init', '-q', testHome.project])
    await testHome.ok('run', '--agent', 'demo', '--name', 'edits', 'steps=600 delay=100ms write=poem.txt')
    const edits = await waitUntil('a checkpoint was made after an edit, twice', async () => {
      const all = await testHome.json<CheckpointView[]>('checkpoints', 'edits')
      const made = all.filter(({ trigger }) => trigger === 'edit')
      return made.length >= 2 ? made : undefined
    })
    expect(edits.length).toBeGreaterThanOrEqual(2)
  })
})
