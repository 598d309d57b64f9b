import fs from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { EventView, MessageView, SessionView } from '../../src/api/contract/responses.ts'
import { binFolder } from './bin-folder.ts'
import { isAlive, waitUntil, TestHome } from './test-home.ts'

let testHome: TestHome
beforeAll(() => {
  testHome = new TestHome()
})
beforeEach(() => testHome.beginTest())
afterEach(() => testHome.endTest())
afterAll(() => testHome.close())

const page = fs.readFileSync(path.resolve(import.meta.dirname, '../../docs/json.md'), 'utf8')
const [sessionTable = '', daemonTable = '', messageTable = '', eventTable = ''] = page.split(
  /`oneshot daemon status --json` prints|`oneshot messages NAME --json` prints|`oneshot events NAME --json` prints|^## Checkpoints|^## Errors/m,
)

/** Field, type and meaning of each row. */
function rowsOf(table: string): [field: string, type: string, meaning: string][] {
  return [...table.matchAll(/^\| `(\w+)` \| ([^|]+) \| (.+) \|$/gm)].map(
    row => [row[1], row[2], row[3]] as [string, string, string],
  )
}

/** An object may lack these fields. */
const OPTIONAL = ', optional'
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
/** These fields have one of the words that stand in the page. */
const CHOICES = ['agent', 'mode', 'phase', 'outcome', 'trouble', 'autonomy', 'state']

function isOfType(value: unknown, type: string): boolean {
  if (value === null) return type.endsWith(' or null')
  const plain = type.replace(' or null', '').replace(OPTIONAL, '')
  return plain === 'time' ? typeof value === 'string' && TIME.test(value) : typeof value === plain
}

/** Checks that an object has exactly the fields and types that the page names. */
function expectAsDocumented(value: object, table: string): void {
  const rows = rowsOf(table).filter(([field, type]) => !type.endsWith(OPTIONAL) || field in value)
  expect(Object.keys(value).sort()).toEqual(rows.map(([field]) => field).sort())
  const wrong = rows.filter(([field, type, meaning]) => {
    const given: unknown = value[field as keyof typeof value]
    const isKnownWord =
      !CHOICES.includes(field) || given === null || meaning.includes(JSON.stringify(given).replaceAll('"', '`'))
    return !isOfType(given, type) || !isKnownWord
  })
  expect(wrong).toEqual([])
}

/** Returns the session once it holds still; `status`, `list` and the page must agree. */
function told(name: string): Promise<SessionView> {
  return waitUntil(`${name} holds still`, async () => {
    const before = await testHome.status(name)
    const listed = (await testHome.list()).find(view => view.id === before.id)
    const after = await testHome.status(name)
    if (JSON.stringify(before) !== JSON.stringify(after)) return undefined
    expect(listed).toEqual(after)
    expectAsDocumented(after, sessionTable)
    return after
  })
}

const millis = (time: string | null): number => Date.parse(time as string)
const go = (): void => fs.writeFileSync(testHome.path('go'), '')

it('docs/json.md documents the main fields of a session and of the supervisor', () => {
  const asked = ['name', 'id', 'agent', 'phase', 'outcome', 'reason', 'cwd', 'attempt', 'restarts', 'pid', 'exitCode']
  asked.push('signal', 'thread', 'createdAt', 'startedAt', 'endedAt', 'lastOutputAt', 'until')
  expect(rowsOf(sessionTable).map(([field]) => field)).toEqual(expect.arrayContaining(asked))
  expect(rowsOf(daemonTable).map(([field]) => field)).toEqual(
    expect.arrayContaining(['pid', 'epoch', 'version', 'startedAt']),
  )
})

describe('status --json', () => {
  it('shows no process for a session that is starting', async () => {
    const tmux = `case "$*" in *source-file*) until [ -e '${testHome.path('go')}' ]; do sleep 0.02; done ;; esac
PATH='${process.env['PATH']}' exec tmux "$@"`
    testHome.env['PATH'] = `${binFolder(testHome, { scripts: { tmux } })}:${process.env['PATH']}`
    const view = await testHome.run('--name', 'slow', '--headless', '--', 'true')
    expectAsDocumented(view, sessionTable)
    expect(await told('slow')).toEqual(view)
    expect(view).toMatchObject({
      name: 'command-slow',
      task: 'slow',
      agent: 'command',
      mode: 'headless',
      phase: 'starting',
      outcome: null,
      title: 'true',
      cwd: testHome.project,
      attempt: 1,
      restarts: 0,
      pid: null,
      exitCode: null,
      signal: null,
      thread: null,
      startedAt: null,
      endedAt: null,
      lastOutputAt: null,
      until: null,
    })
    go()
    expect(await testHome.ended('slow')).toMatchObject({ outcome: 'done' })
  })

  it('shows the process, the times and the deadline of a running session', async () => {
    const begun = Date.now()
    const view = await testHome.run(
      '--name',
      'busy',
      '--max-time',
      '2h',
      '--',
      'sh',
      '-c',
      'echo hello; exec sleep 1000',
    )
    expectAsDocumented(view, sessionTable)
    await waitUntil('its output is seen', async () => (await testHome.status('busy')).lastOutputAt ?? undefined)
    const now = await told('busy')
    expect(now).toMatchObject({
      phase: 'running',
      outcome: null,
      mode: 'tty',
      title: `sh -c 'echo hello; exec sleep 1000'`,
    })
    expect(now.pid).toBe(view.pid)
    expect(isAlive(now.pid as number)).toBe(true)
    await waitUntil('the shell became sleep', () =>
      fs.readFileSync(`/proc/${now.pid}/cmdline`, 'latin1').split('\0').includes('1000'),
    )
    const times = [begun, millis(now.createdAt), millis(now.startedAt), millis(now.lastOutputAt), Date.now()]
    expect(times.toSorted((a, b) => a - b)).toEqual(times)
    expect(millis(now.deadline) - millis(now.createdAt)).toBe(2 * 3_600_000)
  })

  it('shows a deadline of five hours by default, and none with --max-time none', async () => {
    const usual = await testHome.run('--headless', '--', 'sleep', '1000')
    expect(millis(usual.deadline) - millis(usual.createdAt)).toBe(5 * 3_600_000)
    const endless = await testHome.run('--headless', '--max-time', 'none', '--', 'sleep', '1000')
    expectAsDocumented(endless, sessionTable)
    expect(endless.deadline).toBeNull()
  })

  it('shows the question of a blocked session, which continues without an answer after its patience', async () => {
    await testHome.run('--agent', 'demo', '--name', 'asks', 'work ask="May I?" patience=4s steps=1 delay=10ms')
    const view = await waitUntil('it asks', async () => {
      const now = await told('asks')
      return now.phase === 'blocked' ? now : undefined
    })
    expect(view).toMatchObject({ phase: 'blocked', outcome: null, reason: 'waiting for you: May I?', agent: 'demo' })
    expect(isAlive(view.pid as number)).toBe(true)
    expect(view.thread).toMatch(/^[\w-]{10,}$/)
    const end = await testHome.ended('asks')
    expect(end).toMatchObject({ outcome: 'done', thread: view.thread, restarts: 0 })
  })

  it('shows when a crashed session restarts, and keeps its thread', async () => {
    await testHome.run('--agent', 'demo', '--name', 'crasher', 'work crash=always steps=1 delay=10ms')
    const view = await waitUntil('it rests after a restart', async () => {
      const now = await told('crasher')
      return now.phase === 'resting' && now.restarts > 0 ? now : undefined
    })
    expect(view).toMatchObject({
      outcome: null,
      reason: 'killed by SIGKILL before the agent ended its turn',
      attempt: view.restarts + 1,
      pid: null,
      exitCode: null,
      signal: 'SIGKILL',
      endedAt: null,
    })
    expect(view.thread).not.toBeNull()
    expect(millis(view.until)).toBeGreaterThan(millis(view.lastOutputAt))
    await testHome.ok('stop', 'crasher')
    expect(await told('crasher')).toMatchObject({
      phase: 'ended',
      outcome: 'stopped',
      until: null,
      thread: view.thread,
    })
  })

  it('shows a session as stopping until its process is gone', async () => {
    const script = 'trap "echo asked >asked" INT; echo up >up; until [ -e go ]; do sleep 0.02; done; exit 4'
    const { pid } = await testHome.run('--name', 'slow', '--headless', '--', 'sh', '-c', script)
    await waitUntil('it is up', () => (fs.existsSync(testHome.path('up')) ? true : undefined))
    const answer = await testHome.json<SessionView>('stop', 'slow', '--no-wait')
    expectAsDocumented(answer, sessionTable)
    expect(answer).toMatchObject({ phase: 'stopping', outcome: null, reason: 'stopped by you', pid })
    await waitUntil('it was asked', () => (fs.existsSync(testHome.path('asked')) ? true : undefined))
    expect(await told('slow')).toMatchObject({ phase: 'stopping', pid, exitCode: null })
    go()
    expect(await testHome.ended('slow')).toMatchObject({
      outcome: 'stopped',
      reason: 'stopped by you (exit code 4)',
      exitCode: 4,
    })
  })

  it('shows the outcome, the exit code, the signal and the reason of an ended session', async () => {
    const failure = 'the agent ended its turn with a failure: I could not do it.'
    const cases = [
      [sh('echo hello'), { outcome: 'done', exitCode: 0, signal: null, reason: 'exit code 0' }],
      [sh('exit 7'), { outcome: 'failed', exitCode: 7, signal: null, reason: 'exit code 7' }],
      [sh('exit 137'), { outcome: 'failed', exitCode: 137, signal: null, reason: 'exit code 137' }],
      [sh('kill -9 $$'), { outcome: 'failed', exitCode: null, signal: 'SIGKILL', reason: 'killed by SIGKILL' }],
      [sh('kill $$', '--tty'), { outcome: 'failed', exitCode: null, signal: 'SIGTERM', reason: 'killed by SIGTERM' }],
      [demo('fail=yes'), { outcome: 'failed', exitCode: 0, reason: failure }],
      [demo('crash=1'), { outcome: 'done', exitCode: 0, attempt: 2, restarts: 1 }],
    ] as const
    const check = async ([args, facts]: (typeof cases)[number]): Promise<void> => {
      const { id } = await testHome.run(...args)
      await testHome.ended(id)
      const view = await told(id)
      expect(view).toMatchObject({ id, phase: 'ended', pid: null, until: null, deadline: null, ...facts })
      expect(millis(view.endedAt)).toBeGreaterThanOrEqual(millis(view.startedAt))
    }
    await Promise.all(cases.map(check))
  })
})

const sh = (script: string, mode = '--headless'): string[] => [mode, '--', 'sh', '-c', script]
const demo = (directive: string): string[] => ['--agent', 'demo', `work ${directive} steps=1 delay=1ms`]

it('list and killall --json print arrays, live sessions first; wait, stop and clean --json print their results', async () => {
  expect(await testHome.list()).toEqual([])
  expect(await testHome.json('killall', '--yes')).toEqual([])
  await testHome.run('--name', 'one', '--headless', '--', 'sleep', '1000')
  await testHome.run('--name', 'two', '--headless', '--', 'true')
  await testHome.ended('two')
  await testHome.run('--name', 'three', '--headless', '--', 'sleep', '1000')
  expect((await testHome.list()).map(view => view.task)).toEqual(['three', 'one', 'two'])
  const waited = await testHome.json<SessionView>('wait', 'two')
  expect(waited).toEqual(await testHome.status('two'))
  const stopped = await testHome.json<SessionView>('stop', 'one')
  expect(stopped).toMatchObject({ task: 'one', phase: 'ended', outcome: 'stopped' })
  expect(await testHome.json<SessionView>('stop', 'one')).toEqual(stopped)
  const killed = await testHome.json<SessionView[]>('killall', '--yes')
  expect(killed).toMatchObject([{ task: 'three', phase: 'ended', outcome: 'stopped' }])
  for (const view of [waited, stopped, ...killed]) expectAsDocumented(view, sessionTable)
  expect(await testHome.json('clean', 'two', '--dry-run')).toEqual({ wouldRemove: ['command-two'] })
  expect(await testHome.json('clean', 'two')).toEqual({ removed: ['command-two'] })
})

it('send, messages, events and resume --json print the documented fields', async () => {
  await testHome.run('--agent', 'demo', '--name', 'reader', 'steps=1 delay=1ms')
  await testHome.ended('reader')
  const sent = await testHome.json<{ session: SessionView; message: MessageView }>('send', 'reader', 'more steps=1000')
  expectAsDocumented(sent.session, sessionTable)
  expectAsDocumented(sent.message, messageTable)
  await testHome.json('send', 'reader', 'and more')
  const messages = await testHome.json<MessageView[]>('messages', 'reader')
  expect(messages.map(({ number }) => number)).toEqual([1, 2, 3])
  for (const message of messages) expectAsDocumented(message, messageTable)
  const story = await testHome.json<EventView[]>('events', 'reader')
  for (const event of story) expectAsDocumented(event, eventTable)
  await testHome.ok('stop', 'reader')
  const resumed = await testHome.json<SessionView>('resume', 'reader')
  expectAsDocumented(resumed, sessionTable)
  expect(resumed).toMatchObject({ task: 'reader', outcome: null, autonomy: 'full', model: null })
})

it('daemon status --json describes the supervisor, and each start raises the epoch', async () => {
  const fresh = new TestHome()
  onTestFinished(() => fresh.close())
  const nobody = await fresh.oneshot('daemon', 'status', '--json')
  expect(nobody).toMatchObject({ code: 3, stderr: '' })
  expect(JSON.parse(nobody.stdout)).toEqual({
    error: { code: 'daemon-not-running', message: 'the supervisor is not running', hint: 'oneshot daemon start' },
  })
  await fresh.run('--headless', '--', 'sleep', '1000')
  const first = await fresh.daemon()
  expectAsDocumented(first, daemonTable)
  expect(isAlive(first.pid)).toBe(true)
  expect(first).toMatchObject({ epoch: 1, home: fresh.home.root, sessions: { live: 1, ended: 0 } })
  expect(first.version).toBe(await fresh.ok('--version'))
  const second = await fresh.json<typeof first>('daemon', 'restart')
  expectAsDocumented(second, daemonTable)
  expect(second.epoch).toBe(first.epoch + 1)
  expect(second.pid).not.toBe(first.pid)
})

it('commands print the same with --json before or after the command', async () => {
  await testHome.run('--name', 'one', '--headless', '--', 'true')
  await testHome.ended('one')
  expect(await testHome.ok('--json', 'status', 'one')).toBe(await testHome.ok('status', 'one', '--json'))
  expect(await testHome.ok('list', '--json')).toBe(await testHome.ok('ls', '--json'))
})
