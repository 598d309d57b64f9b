import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { notificationOf } from '../../src/core/notify/notification.ts'
import type { ChannelAddress } from '../../src/core/notify/channel.ts'
import { NOTICE_KINDS } from '../../src/core/notify/notice.ts'
import { waitUntil } from '../../testkit/system/wait-until.ts'
import { makeFailedNotice } from '../../testkit/core/notices.ts'
import { createNotifier } from '../../src/world/notify/notifier.ts'

const NASTY = `"'; $(touch gone) \`id\` <b> & -n %s \\n ünï 🚀`
const TEXT = `demo-x failed: exit code 3\n${NASTY}\noneshot resume demo-x`

const NOTICE = makeFailedNotice(NASTY)

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'os-channels-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

/** A program that writes down what it is given, one file for each argument and one for stdin. */
function stub(name: string, more = ''): void {
  const script = `#!/bin/sh
n=0
for word do n=$((n + 1)); printf %s "$word" >'${folder}'/argument-$n; done
cat >'${folder}/stdin'
env >'${folder}/environment'
${more}
`
  fs.writeFileSync(path.join(folder, name), script, { mode: 0o755 })
}

function given(): { argv: string[]; stdin: string } {
  const argv: string[] = []
  for (let n = 1; fs.existsSync(path.join(folder, `argument-${n}`)); n++)
    argv.push(fs.readFileSync(path.join(folder, `argument-${n}`), 'utf8'))
  return { argv, stdin: fs.readFileSync(path.join(folder, 'stdin'), 'utf8') }
}

function tell(address: ChannelAddress, signal = AbortSignal.timeout(10_000)): Promise<string> {
  const env = { PATH: `${folder}:/usr/bin:/bin`, USER: 'me', DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' }
  const listing = { name: 'it', events: NOTICE_KINDS, address: () => address }
  const notifier = createNotifier(async () => [listing], { env, terminals: async () => [] })
  return notifier.deliver('it', notificationOf([NOTICE], NOTICE.at), signal)
}

test('notify-send gets the text as arguments, in which nothing is markup', async () => {
  stub('notify-send')
  stub('osascript', 'exit 1')
  expect(await tell({ type: 'desktop' })).toBe('shown by notify-send')
  const escaped = TEXT.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  expect(given().argv).toEqual(['--app-name=oneshot', '--urgency=critical', '--', 'demo-x failed', escaped])
})

test('osascript gets the text as arguments: nothing of it is in the script', async () => {
  stub('osascript')
  expect(await tell({ type: 'desktop' })).toBe('shown by osascript')
  const { argv } = given()
  expect(argv.slice(-2)).toEqual([TEXT, 'demo-x failed'])
  expect(argv.slice(0, -2).join(' ')).not.toContain('demo-x')
})

test('openclaw gets one line as an event for now', async () => {
  stub('openclaw')
  await tell({ type: 'openclaw' })
  const line = `oneshot: ${TEXT.replaceAll('\n', ' · ')}`
  expect(given().argv).toEqual(['system', 'event', '--text', line, '--mode', 'now'])
})

test('sendmail gets a whole mail and its receivers', async () => {
  stub('sendmail')
  await tell({ type: 'email', to: ['a@b.test', 'c@d.test'], from: 'o@b.test', url: null, password: null })
  const { argv, stdin } = given()
  expect(argv).toEqual(['-i', '-f', 'o@b.test', '--', 'a@b.test', 'c@d.test'])
  expect(stdin).toMatch(
    /^Auto-Submitted: auto-generated\nFrom: oneshot <o@b\.test>\nTo: a@b\.test, c@d\.test\nSubject: oneshot: demo-x failed\n/,
  )
  expect(stdin).toContain('\nMessage-ID: <abc-1-failed@oneshot.invalid>\n')
  expect(Buffer.from(stdin.split('\n\n')[1] ?? '', 'base64').toString()).toBe(`${TEXT}\n`)
})

test('a command gets everything in its environment and on stdin, and nothing in its arguments', async () => {
  stub('tell-me')
  await tell({ type: 'command', argv: ['tell-me', '$ONESHOT_TEXT', 'two words'] })
  const { argv, stdin } = given()
  expect(argv).toEqual(['$ONESHOT_TEXT', 'two words'])
  expect(JSON.parse(stdin)).toMatchObject({ id: 'abc-1-failed', event: 'failed', session: { title: NASTY } })
  const environment = fs.readFileSync(path.join(folder, 'environment'), 'utf8')
  expect(environment).toContain('ONESHOT_EVENT=failed\n')
  expect(environment).toContain('ONESHOT_EXIT_CODE=3\n')
  expect(fs.existsSync(path.join(folder, 'gone'))).toBe(false)
})

test('a channel reports a failing program with its last output, and a missing program by its name', async () => {
  stub('tell-me', 'echo first; echo "no display" >&2; exit 4')
  await expect(tell({ type: 'command', argv: ['tell-me'] })).rejects.toThrow(
    'notifying it: tell-me: exit code 4: no display',
  )
  await expect(tell({ type: 'openclaw' })).rejects.toThrow("notifying it: openclaw is not on the supervisor's PATH")
})

test('a channel kills a program that hangs, and all its children, when the time is over', async () => {
  const pid = path.join(folder, 'pid')
  stub('tell-me', `sleep 600 & echo $! >'${pid}.new'; mv '${pid}.new' '${pid}'; wait`)
  const patience = new AbortController()
  const told = tell({ type: 'command', argv: ['tell-me'] }, patience.signal)
  await waitUntil('it hangs', () => fs.existsSync(pid))
  patience.abort()
  await expect(told).rejects.toThrow('killed by SIGKILL')
  const child = Number(fs.readFileSync(pid, 'utf8'))
  await waitUntil('its child is gone', () => !isAlive(child))
})

test('the bell writes to no file and to no missing terminal', async () => {
  const file = path.join(folder, 'no-terminal')
  fs.writeFileSync(file, '')
  const listing = { name: 'it', events: NOTICE_KINDS, address: () => ({ type: 'bell' }) as const }
  const notifier = createNotifier(async () => [listing], { env: {}, terminals: async () => [file, '/dev/pts/99999'] })
  await expect(
    notifier.deliver('it', notificationOf([NOTICE], NOTICE.at), AbortSignal.timeout(1_000)),
  ).rejects.toMatchObject({ message: 'notifying it: nobody is at a terminal of yours', mayHelpToRetry: false })
  expect(fs.readFileSync(file, 'utf8')).toBe('')
})

function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(fs.readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}
