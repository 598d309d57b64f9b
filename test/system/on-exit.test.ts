import fs from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { SessionView } from '../../src/api/contract/responses.ts'
import { sessionFolder } from '../../src/state/session-folder.ts'
import { readEvents } from '../../src/world/store/reader.ts'
import { expectRefusal } from './expect-refusal.ts'
import { TestHome, isAlive, waitUntil } from './test-home.ts'
import { userConfig } from './user-config.ts'

let testHome: TestHome
beforeAll(() => {
  testHome = new TestHome()
})
beforeEach(() => testHome.beginTest())
afterEach(() => testHome.endTest())
afterAll(() => testHome.close())

/** A program that adds a line with all of its own to a file, and its arguments and stdin to others. */
function program(more = ''): string {
  const file = path.join(testHome.root, 'hook')
  const script = `#!/bin/sh
for word do printf '[%s]' "$word"; done >arguments
cat >document.json
env | grep '^ONESHOT_\\|^COLOUR=' | grep -v '^ONESHOT_DIST=' | sort >environment
echo "$ONESHOT_HOOK $ONESHOT_OUTCOME" >>calls
${more}
`
  fs.writeFileSync(file, script, { mode: 0o755 })
  return file
}

const read = (name: string): string => fs.readFileSync(testHome.path(name), 'utf8')

function calls(): string[] {
  return fs.existsSync(testHome.path('calls')) ? read('calls').trimEnd().split('\n') : []
}

function untilCalled(count = 1): Promise<string[]> {
  return waitUntil(`${count} hooks were run`, () => (calls().length >= count ? calls() : undefined))
}

function untilNoted(session: SessionView, count = 1): Promise<{ ok: boolean; reason: string }[]> {
  return waitUntil('its end was noted', () => {
    const ends = readEvents(testHome.home, session.id).flatMap(event => (event.type === 'hook.ended' ? [event] : []))
    return ends.length >= count ? ends : undefined
  })
}

test('the on-exit command runs in the folder of the session, with the facts in its environment and on stdin', async () => {
  const own = program('echo said something; umask >mask')
  const session = await testHome.run(
    '--env',
    'COLOUR=green',
    '--on-exit',
    `${own} 'two words' "$(touch gone)" *`,
    '--headless',
    '--',
    'sh',
    '-c',
    'exit 7',
  )
  const [end] = await untilNoted(session)
  expect(end).toMatchObject({ ok: true, reason: 'exit code 0' })
  expect(read('arguments')).toBe('[two words][$(touch gone)][*]')
  expect(fs.existsSync(testHome.path('gone'))).toBe(false)
  const view = await testHome.status(session.name)
  expect(JSON.parse(read('document.json'))).toEqual(view)
  const [id] = (calls()[0] ?? '').split(' ')
  expect(
    Object.fromEntries(
      read('environment')
        .trimEnd()
        .split('\n')
        .map(line => line.split(/=(.*)/s).slice(0, 2)),
    ),
  ).toEqual({
    COLOUR: 'green',
    ONESHOT_HOME: testHome.home.root,
    ONESHOT_HOOK: id,
    ONESHOT_EVENT: 'failed',
    ONESHOT_OUTCOME: 'failed',
    ONESHOT_REASON: 'exit code 7',
    ONESHOT_EXIT_CODE: '7',
    ONESHOT_SIGNAL: '',
    ONESHOT_SESSION: session.name,
    ONESHOT_SESSION_ID: session.id,
    ONESHOT_TASK: session.task,
    ONESHOT_AGENT: 'command',
    ONESHOT_TITLE: session.title,
    ONESHOT_CWD: testHome.project,
    ONESHOT_ATTEMPTS: '1',
    ONESHOT_THREAD: '',
  })
  expect(Number.parseInt(read('mask'), 8)).toBe(process.umask())
  const kept = path.join(sessionFolder(testHome.home, session.id).hooks, id ?? '')
  expect([fs.readFileSync(kept, 'utf8'), fs.statSync(kept).mode & 0o777]).toEqual(['said something\n', 0o600])
})

test('the on-exit command runs once for each end of a session: done, done again after a message, stopped', async () => {
  const own = program()
  const session = await testHome.run('--agent', 'demo', '--name', 'x', '--on-exit', own, 'steps=1 delay=1ms')
  await untilNoted(session)
  await testHome.ok('send', 'x', 'steps=1 delay=1ms')
  await untilNoted(session, 2)
  const other = await testHome.run('--name', 'y', '--on-exit', own, '--headless', '--', 'sleep', '600')
  await testHome.ok('stop', 'y')
  await untilNoted(other)
  expect(calls().map(line => line.split(' ')[1])).toEqual(['done', 'done', 'stopped'])
  expect(new Set(calls()).size).toBe(3)
})

test('the user’s config file can set the on-exit command; only --on-exit-shell runs its line in a shell', async () => {
  userConfig(testHome, `on-exit = "${program()} from-config"\n`)
  await testHome.run('--name', 'a', '--headless', '--', 'true')
  await untilCalled()
  expect(read('arguments')).toBe('[from-config]')
  await testHome.run(
    '--name',
    'b',
    '--on-exit-shell',
    `echo "$ONESHOT_SESSION" >shell; echo over >>calls`,
    '--headless',
    '--',
    'true',
  )
  await untilCalled(2)
  expect(read('shell')).toBe('command-b\n')
  const none = await testHome.run('--name', 'c', '--on-exit', '', '--headless', '--', 'true')
  await testHome.ended('c')
  await testHome.run('--name', 'd', '--headless', '--', 'true')
  await untilCalled(3)
  expect(readEvents(testHome.home, none.id).some(({ type }) => type === 'hook.ended')).toBe(false)
  expect(calls()).toHaveLength(3)
})

test('run refuses an on-exit command with open quotes, beside --on-exit-shell, of a missing program, or from a project’s file', async () => {
  const unclosed = await testHome.oneshot('run', '--on-exit', "say 'hello", 'x')
  expect(unclosed).toMatchObject({ code: 2, stderr: expect.stringContaining('a command whose quotes are closed') })
  await expectRefusal(testHome, ['run', '--on-exit', 'a', '--on-exit-shell', 'b', '--agent', 'demo', 'x'], {
    exit: 2,
    code: 'usage',
    says: '--on-exit and --on-exit-shell exclude each other',
    hint: 'give one of them',
  })
  await expectRefusal(testHome, ['run', '--on-exit', 'no-such-program --x', '--agent', 'demo', 'x'], {
    exit: 1,
    code: 'program-missing',
    says: 'the on-exit command no-such-program was not found',
    hint: '--on-exit-shell',
  })
  fs.writeFileSync(testHome.path('.oneshot.toml'), 'on-exit = "reboot"\n')
  await expectRefusal(testHome, ['run', '--agent', 'demo', 'x'], {
    exit: 2,
    code: 'config-invalid',
    says: "on-exit cannot be set in a project's file",
    hint: 'your own file',
  })
})

test('the supervisor records that an on-exit command failed, and the session stays done', async () => {
  const session = await testHome.run('--on-exit', program('echo no luck >&2; exit 5'), '--headless', '--', 'true')
  const [end] = await untilNoted(session)
  expect(end).toMatchObject({ ok: false, reason: 'exit code 5: no luck' })
  expect(await testHome.status(session.name)).toMatchObject({ outcome: 'done', exitCode: 0 })
  expect(fs.readFileSync(testHome.home.daemonLog, 'utf8')).toContain(
    `the on-exit command of ${session.name} failed: exit code 5: no luck`,
  )
})

test('after a kill of the supervisor, the next one runs the on-exit command again under the same id', async () => {
  const own = program('if [ ! -e second ]; then touch second; echo $$ >pid; exec sleep 600; fi')
  const session = await testHome.run('--on-exit', own, '--headless', '--', 'true')
  const first = await waitUntil('it hangs', () =>
    fs.existsSync(testHome.path('pid')) && read('pid') !== '' ? Number(read('pid')) : undefined,
  )
  testHome.defer(async () => isAlive(first) && process.kill(first, 'SIGKILL'))
  process.kill((await testHome.daemon()).pid, 'SIGKILL')
  await untilNoted(session)
  expect(calls()).toHaveLength(2)
  expect(new Set(calls()).size).toBe(1)
})

test('daemon stop ends an on-exit command that still runs', async () => {
  await testHome.run('--on-exit', program('echo $$ >pid; exec sleep 600'), '--headless', '--', 'true')
  const pid = await waitUntil('it hangs', () =>
    fs.existsSync(testHome.path('pid')) && read('pid') !== '' ? Number(read('pid')) : undefined,
  )
  await testHome.ok('daemon', 'stop')
  await waitUntil('it is gone', () => (isAlive(pid) ? undefined : true))
})

test('the on-exit command runs although the session is cleaned at once', async () => {
  const session = await testHome.run('--on-exit', program(), '--headless', '--', 'true')
  await testHome.ended(session.name)
  await testHome.ok('clean', session.name)
  await untilCalled()
  expect(
    JSON.parse(
      await waitUntil(
        'it was told',
        () => (fs.existsSync(testHome.path('document.json')) && read('document.json')) || undefined,
      ),
    ),
  ).toMatchObject({ id: session.id, outcome: 'done' })
})
