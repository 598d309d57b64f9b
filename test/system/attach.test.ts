import fs from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { TestHome, waitUntil } from './test-home.ts'
import { Terminal } from './terminal.ts'

let testHome: TestHome
beforeAll(() => {
  testHome = new TestHome()
})
beforeEach(() => testHome.beginTest())
afterEach(() => testHome.endTest())
afterAll(() => testHome.close())

/** Writes down each line it is given. */
const LISTENER = 'while read -r line; do echo "heard $line"; echo "$line" >>heard; done'
const heard = (count: number): Promise<string[]> =>
  waitUntil(`${count} lines were heard`, () => {
    const lines = fs.existsSync(testHome.path('heard'))
      ? fs.readFileSync(testHome.path('heard'), 'utf8').split('\n')
      : []
    return lines.length > count ? lines.slice(0, -1) : undefined
  })

it('attach without a terminal is refused and suggests follow', async () => {
  await testHome.run('--name', 'long', '--headless', '--', 'sleep', '1000')
  expect(await testHome.oneshot('attach', 'long')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: 'error: attach needs a terminal for its input and output\nhint: oneshot follow command-long\n',
  })
})

describe('at a terminal inside tmux,', () => {
  it('attach shows the transcript of a headless session, and Ctrl-b d leaves it running', async () => {
    const session = await testHome.run('--agent', 'demo', '--name', 'talker', 'talk steps=2000 delay=20ms')
    const terminal = await Terminal.open(testHome)
    await terminal.enter('oneshot attach talker; echo "code=$?"')
    await terminal.shows(/• step \d+ of 2000/)
    await terminal.press('C-b', 'd')
    const screen = await terminal.shows('code=0')
    expect(screen).toContain('detached; demo-talker continues')
    expect(await testHome.status('talker')).toMatchObject({ phase: 'running', pid: session.pid, restarts: 0 })
  })

  it('Ctrl-C in an attached transcript ends neither the view nor the session', async () => {
    const session = await testHome.run('--agent', 'demo', '--name', 'talker', 'talk steps=2000 delay=20ms')
    const terminal = await Terminal.open(testHome)
    await terminal.enter('oneshot attach talker; echo "code=$?"')
    const first = await terminal.shows(/• step \d+ of 2000/)
    await terminal.press('C-c')
    await waitUntil('it goes on', async () => ((await terminal.screen()) === first ? undefined : true))
    await terminal.press('C-b', 'd')
    await terminal.shows('detached; demo-talker continues')
    expect(await testHome.status('talker')).toMatchObject({ phase: 'running', pid: session.pid, restarts: 0 })
  })

  it('attach without LANG shows non-ASCII letters unchanged', async () => {
    await testHome.run('--name', 'umlaut', '--', 'sh', '-c', 'echo "größer als 漢字 ✔"; exec sleep 1000')
    const terminal = await Terminal.open(testHome)
    await terminal.enter('env -u LANG -u LC_ALL -u LC_CTYPE oneshot attach umlaut; echo "code=$?"')
    await terminal.shows('größer als 漢字 ✔')
    await terminal.press('C-b', 'd')
    await terminal.shows('code=0')
  })

  it('attach passes keys to the program of a terminal session; attach -r does not', async () => {
    await testHome.run('--name', 'listener', '--', 'sh', '-c', LISTENER)
    const terminal = await Terminal.open(testHome)
    await terminal.enter('oneshot attach -r listener; echo "code=$?"')
    await terminal.shows('oneshot · leave with Ctrl-b Ctrl-b d')
    await terminal.enter('typed into a read-only view')
    await terminal.press('C-b', 'd')
    await terminal.shows('code=0')
    await terminal.clear()
    await terminal.enter('oneshot attach; echo "code=$?"')
    await terminal.shows('oneshot · leave with Ctrl-b Ctrl-b d')
    await terminal.enter('typed for real')
    await terminal.shows('heard typed for real')
    expect(await heard(1)).toEqual(['typed for real'])
    await terminal.press('C-b', 'd')
    await terminal.shows('detached; command-listener continues')
    expect((await testHome.status('listener')).phase).toBe('running')
  })

  it('two attached terminals show the same session', async () => {
    await testHome.run('--name', 'listener', '--', 'sh', '-c', LISTENER)
    const terminal = await Terminal.open(testHome)
    await terminal.enter('oneshot attach listener')
    await terminal.shows('oneshot · leave with Ctrl-b Ctrl-b d')
    const other = new TestHome({ ONESHOT_HOME: testHome.home.root })
    try {
      const second = await Terminal.open(other)
      await second.enter('oneshot attach listener')
      await second.shows('oneshot · leave with Ctrl-b Ctrl-b d')
      await second.enter('from the second')
      await terminal.shows('heard from the second')
    } finally {
      await other.close()
    }
  })

  it('attach ends with the session and shows its outcome', async () => {
    await testHome.run('--name', 'brief', '--', 'sh', '-c', 'echo "press enter"; read -r line; exit 3')
    const terminal = await Terminal.open(testHome)
    await terminal.enter('oneshot attach brief; echo "code=$?"')
    await terminal.shows('press enter')
    await terminal.press('Enter')
    const screen = await terminal.shows('code=0')
    expect(screen).toContain('✖ failed command-brief: exit code 3')
    await terminal.enter('oneshot attach brief; echo "again=$?"')
    expect(await terminal.shows('again=3')).toContain('error: command-brief has ended: exit code 3')
  })

  it('a demo agent accepts an answer through attach', async () => {
    await testHome.run(
      '--agent',
      'demo',
      '--name',
      'asker',
      '--tty',
      'work ask="May I?" patience=60s steps=1 delay=10ms',
    )
    await waitUntil('it asks', async () => ((await testHome.status('asker')).phase === 'blocked' ? true : undefined))
    const terminal = await Terminal.open(testHome)
    await terminal.enter('oneshot attach asker')
    await terminal.shows('May I? [y/n]')
    await terminal.enter('y')
    expect(await testHome.ended('asker')).toMatchObject({ outcome: 'done' })
    expect(await testHome.ok('log', 'asker')).toContain('answered: y')
  })
})
