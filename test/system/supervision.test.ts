import fs from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { EventView, SessionView } from '../../src/api/contract/responses.ts'
import { expectRefusal } from './expect-refusal.ts'
import { TestHome, isAlive, waitUntil } from './test-home.ts'
import { Terminal } from './terminal.ts'

let testHome: TestHome
beforeAll(() => {
  testHome = new TestHome()
})
beforeEach(() => testHome.beginTest())
afterEach(() => testHome.endTest())
afterAll(() => testHome.close())

const events = (name: string): Promise<EventView[]> => testHome.json<EventView[]>('events', name)

describe('the supervisor', () => {
  it('ends a silent agent, records the evidence, and finishes the work in the next attempt', async () => {
    await testHome.run(
      '--agent',
      'demo',
      '--name',
      'hang',
      '--silence',
      '2s',
      'work steps=4 delay=10ms hang=2 write=n.txt',
    )
    expect(await testHome.ended('hang')).toMatchObject({ outcome: 'done', attempt: 2, restarts: 1 })
    const resting = (await events('hang')).find(event => event.type === 'session.resting')
    expect(resting?.details).toMatchObject({ cause: 'crash', trouble: 'silence' })
    expect(resting?.text).toMatch(
      /^silent for \S+ s: no output, no CPU in 1 process, no open tool call; continues at once$/,
    )
    expect(fs.readFileSync(testHome.path('n.txt'), 'utf8').trim().split('\n')).toHaveLength(4)
  })

  it('ends an idle silent command, and not one that computes silently', { tags: ['extended'] }, async () => {
    const busy = 'end=$(($(date +%s) + 6)); while [ "$(date +%s)" -lt "$end" ]; do :; done'
    await testHome.run('--name', 'busy', '--headless', '--silence', '2s', '--', 'sh', '-c', busy)
    await testHome.run('--name', 'idle', '--headless', '--silence', '2s', '--', 'sleep', '600')
    expect(await testHome.ended('busy')).toMatchObject({ outcome: 'done', attempt: 1 })
    expect(await testHome.ended('idle')).toMatchObject({ outcome: 'failed', trouble: 'silence' })
  })
})

it('the supervisor ends a session whose processes exceed its memory limit, and reports out of memory', async () => {
  const eater = 'const a = []; setInterval(() => a.push(Buffer.alloc(20e6, 1)), 50)'
  const script = `${process.execPath} -e '${eater}' & wait`
  const { pid } = await testHome.run('--name', 'fat', '--headless', '--memory', '300M', '--', 'sh', '-c', script)
  const view = await testHome.ended('fat')
  expect(view).toMatchObject({ outcome: 'failed', trouble: 'memory' })
  expect(view.reason).toMatch(/^out of memory: .*300 MB/)
  expect(isAlive(pid as number)).toBe(false)
})

it('the supervisor restarts a failing command --max-restarts times and then gives up with a reason', async () => {
  const line = ['--restart', 'on-failure', '--max-restarts', '2', '-c', 'restart-delay=10ms']
  await testHome.run(...line, '--name', 'flaky', '--headless', '--', 'sh', '-c', 'echo try >>tries; exit 3')
  expect(await testHome.ended('flaky')).toMatchObject({
    outcome: 'gave-up',
    trouble: 'crash',
    restarts: 2,
    reason: '2 restarts within 10 min did not help; the last attempt: exit code 3',
  })
  expect(fs.readFileSync(testHome.path('tries'), 'utf8')).toBe('try\ntry\ntry\n')
})

it('events shows the whole history of a session in order, and daemon log shows it across a kill of the supervisor', async () => {
  await testHome.run('--agent', 'demo', '--name', 'auth', 'work steps=3 delay=10ms crash=2')
  await testHome.ended('auth')
  const story = (await testHome.ok('events', 'auth')).split('\n').map(line => line.replace(/^\S+ {2}/, ''))
  expect(story[0]).toBe('accepted')
  expect(story).toContain('attempt 1: killed by SIGKILL')
  expect(story).toContain('attempt 2: launched in its thread')
  expect(story.at(-1)).toBe('done: the agent ended its turn, exit code 0')
  expect((await testHome.ok('events', 'auth', '-n', '1')).split('\n')).toHaveLength(1)
  process.kill((await testHome.daemon()).pid, 'SIGKILL')
  await testHome.run('--agent', 'demo', '--name', 'later', 'work steps=1 delay=1ms')
  await testHome.ended('later')
  const log = await testHome.ok('daemon', 'log')
  expect(log).toMatch(/demo-auth attempt 1: killed by SIGKILL\n/)
  expect(log).toMatch(/epoch 1, pid [\s\S]*epoch 2, pid [\s\S]*demo-later done: /)
})

it('events --follow --json prints one object per line until the session ends', async () => {
  await testHome.run('--agent', 'demo', '--name', 'auth', 'work steps=5 delay=100ms')
  const lines = (await testHome.ok('events', 'auth', '--follow', '--json')).split('\n')
  const told = lines.map(line => (JSON.parse(line) as EventView).type)
  expect(told[0]).toBe('session.created')
  expect(told.at(-1)).toBe('session.ended')
})

describe('oneshot hold', () => {
  it('ends the agent, keeps the session held through a restart of the supervisor, and resume continues it', async () => {
    const { pid } = await testHome.run('--agent', 'demo', '--name', 'auth', 'work steps=20 delay=50ms write=n.txt')
    await waitUntil('it works', () => (fs.existsSync(testHome.path('n.txt')) ? true : undefined))
    const held = await testHome.json<SessionView>('hold', 'auth')
    expect(held).toMatchObject({ phase: 'blocked', trouble: 'held', reason: 'held by you', pid: null, deadline: null })
    expect(isAlive(pid as number)).toBe(false)
    await testHome.ok('daemon', 'restart')
    await testHome.ok('send', 'auth', 'and then this steps=1 delay=1ms')
    expect(await testHome.status('auth')).toMatchObject({ phase: 'blocked', trouble: 'held', attempt: 1 })
    await testHome.ok('resume', 'auth')
    expect(await testHome.ended('auth')).toMatchObject({ outcome: 'done', messages: { accepted: 2, confirmed: 2 } })
  })

  it('refuses an ended session', async () => {
    await testHome.run('--headless', '--name', 'short', '--', 'true')
    await testHome.ended('short')
    await expectRefusal(testHome, ['hold', 'short'], {
      exit: 3,
      code: 'session-ended',
      says: 'command-short has already ended',
      hint: 'oneshot status command-short',
    })
  })
})

describe('oneshot resume', () => {
  it('tells that it started the supervisor again and that the session had continued', async () => {
    const { pid } = await testHome.run('--agent', 'demo', '--name', 'auth', 'work steps=1000 delay=50ms')
    await testHome.ok('daemon', 'stop')
    const terminal = await Terminal.open(testHome)
    await terminal.enter('oneshot resume auth; echo "code=$?"')
    expect(await terminal.shows('code=0')).toContain(
      'the supervisor is back; the work had continued: ● running demo-auth',
    )
    expect(await testHome.status('auth')).toMatchObject({ pid, attempt: 1 })
    await terminal.enter('clear; oneshot resume auth; echo "again=$?"')
    expect(await terminal.shows('again=6')).toContain('demo-auth is running: there is nothing to resume')
  })

  it('tells that it started both the supervisor and the session again', async () => {
    await testHome.run('--agent', 'demo', '--name', 'auth', 'work steps=20 delay=50ms')
    await testHome.ok('stop', 'auth')
    await testHome.ok('daemon', 'stop')
    const terminal = await Terminal.open(testHome)
    await terminal.enter('oneshot resume auth; echo "code=$?"')
    expect(await terminal.shows('code=0')).toMatch(/the supervisor is back; demo-auth: attempt 2 /)
    expect(await testHome.ended('auth')).toMatchObject({ outcome: 'done' })
  })
})
