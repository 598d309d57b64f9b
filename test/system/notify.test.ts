import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ChannelView, ChannelTestView } from '../../src/api/contract/responses.ts'
import { MailServer, readMail } from '../../testkit/system/mail-server.ts'
import { RecordingServer } from '../../testkit/system/recording-server.ts'
import { run } from '../../src/os/run.ts'
import { binFolder } from './bin-folder.ts'
import { expectRefusal } from './expect-refusal.ts'
import { TestHome, waitUntil } from './test-home.ts'
import { Terminal } from './terminal.ts'
import { userConfig } from './user-config.ts'

let testHome: TestHome
let server: RecordingServer
beforeEach(async () => {
  testHome = new TestHome()
  server = await RecordingServer.open()
})
afterEach(async () => {
  await testHome.close()
  await server.close()
})

const hook = (name = 'hook'): string => `[notify.${name}]\ntype = "webhook"\nurl = "${server.url}/${name}"\n`

interface Told {
  readonly id: string
  readonly event: string
  readonly text: string
  readonly session: { readonly name: string; readonly title: string }
}

const told = (): Told[] => server.bodies() as Told[]
const names = (): string[] => told().map(({ session }) => session.name)

function untilTold(count: number): Promise<Told[]> {
  return waitUntil(`${count} were told`, () => (server.requests.length >= count ? told() : undefined))
}

test('oneshot sends a notification when a session ends or waits for the user', async () => {
  userConfig(testHome, hook())
  await testHome.run('--agent', 'demo', '--name', 'fine', 'steps=1 delay=1ms')
  await testHome.run('--name', 'bad', '--headless', '--', 'sh', '-c', 'exit 3')
  await testHome.run('--agent', 'demo', '--name', 'curious', 'ask=which')
  await testHome.run('--name', 'slow', '--max-time', '1s', '--headless', '--', 'sleep', '600')
  await untilTold(4)
  const lines = told().map(({ event, text }) => `${event} ${text}`)
  expect(lines.sort()).toEqual([
    expect.stringMatching(/^blocked demo-curious waits for you: .*which/),
    expect.stringMatching(/^done demo-fine is done: /),
    'failed command-bad failed: exit code 3',
    expect.stringMatching(/^stopped command-slow was stopped: the time limit of 1 s was reached/),
  ])
})

test('oneshot sends one notification about a loop, with its summary, and none about its workers', async () => {
  userConfig(testHome, hook())
  fs.writeFileSync(testHome.path('PRD.md'), '- [ ] one write=one.txt steps=1\n- [ ] two write=two.txt steps=1\n')
  await run('git', ['init', '-q', '.'], { cwd: testHome.project, env: testHome.env })
  await testHome.ok('ralph', '--agent', 'demo', '--no-verify')
  await testHome.ended('ralph-prd')
  await testHome.run('--agent', 'demo', '--name', 'last', 'steps=1 delay=1ms')
  await waitUntil('what came after it was told', () => (names().includes('demo-last') ? true : undefined))
  expect(told().map(({ event, text }) => `${event} ${text}`)).toEqual([
    'done ralph-prd is done: 2 of 2 tasks done (changed files; not tested)',
    expect.stringMatching(/^done demo-last is done/),
  ])
})

test('oneshot notifies about frequent restarts before it gives up, and about a wait for a usage limit', {
  tags: ['extended'],
}, async () => {
  userConfig(testHome, hook())
  const limit = 'You’ve hit your usage limit. Upgrade to Pro or try again at 9:00 AM.'
  const codex = `cat >/dev/null
echo '{"type":"thread.started","thread_id":"01a1de78-69fb-7731-abc7-29a1f6ce73b3"}'
echo '{"type":"turn.failed","error":{"message":"${limit}"}}'
exit 1`
  testHome.env['PATH'] = binFolder(testHome, { tools: ['tmux'], scripts: { codex } })
  const often = ['-c', 'restart-delay=10ms', '--max-restarts', '5', '-c', 'notify-restarts=2']
  await testHome.run('--agent', 'demo', '--name', 'sick', ...often, 'steps=1 delay=1ms crash=always')
  await testHome.run('--agent', 'codex', '--name', 'slow', 'do it')
  await untilTold(3)
  const lines = told().map(({ event, text }) => `${event} ${text}`)
  expect(lines.sort()).toEqual([
    expect.stringMatching(
      /^gave-up demo-sick gave up: 5 restarts within 10 min did not help; the last attempt: killed/,
    ),
    expect.stringMatching(/^limit codex-slow rests for .* and then continues: usage limit: You’ve hit/),
    'restarting demo-sick restarts too often: 3 restarts within 1 h',
  ])
})

test('a channel that fails at first gets the notification once in the end', async () => {
  testHome.env['ONESHOT_TEST_TIMINGS'] = 'channelPause=3000'
  userConfig(testHome, hook())
  server.replies.push(500)
  await testHome.run('--headless', '--', 'true')
  await testHome.ended('command-true')
  await waitUntil('it failed', async () => ((await channels())[0]?.failure ? true : undefined))
  expect((await channels())[0]).toMatchObject({
    pending: 1,
    deliveredAt: null,
    failure: expect.stringContaining('500'),
  })
  await untilTold(2)
  expect(new Set(told().map(({ id }) => id)).size).toBe(1)
  await waitUntil('it is noted', async () => ((await channels())[0]?.pending === 0 ? true : undefined))
  expect(await channels()).toMatchObject([{ pending: 0, nextAt: null, failedAt: null, failure: null }])
  expect(server.requests).toHaveLength(2)
})

test('a notice survives the kill of the supervisor that was about to send it', async () => {
  userConfig(testHome, hook())
  server.always = 'hang'
  await testHome.run('--headless', '--', 'true')
  await untilTold(1)
  const { pid } = await testHome.daemon()
  server.always = undefined
  process.kill(pid, 'SIGKILL')
  const [first, second] = await untilTold(2)
  expect(second).toEqual(first)
  await waitUntil('it is noted', async () => ((await channels())[0]?.pending === 0 ? true : undefined))
  expect(server.requests).toHaveLength(2)
})

test('the next supervisor sends notifications about all that happened without a supervisor', async () => {
  userConfig(testHome, hook())
  await testHome.run('--name', 'late', '--headless', '--', 'sh', '-c', 'until [ -e go ]; do sleep 0.05; done')
  await testHome.ok('daemon', 'stop')
  fs.writeFileSync(testHome.path('go'), '')
  await waitUntil('it is over', async () => ((await testHome.status('late')).phase === 'stopping' ? true : undefined))
  expect(server.requests).toEqual([])
  await testHome.ok('daemon', 'start')
  expect(await untilTold(1)).toMatchObject([{ event: 'done', text: 'command-late is done: exit code 0' }])
})

test('a dead channel delays no session and no other channel', async () => {
  const dead = await RecordingServer.open()
  testHome.defer(() => dead.close())
  dead.always = 'hang'
  const refused = '[notify.refused]\ntype = "slack"\nurl = "http://127.0.0.1:1/x"\n'
  userConfig(testHome, `[notify.dead]\ntype = "webhook"\nurl = "${dead.url}"\n${refused}${hook()}`)
  for (const name of ['one', 'two', 'three']) {
    await testHome.run('--name', name, '--headless', '--', 'true')
    await testHome.ended(name)
    await waitUntil(`${name} was told`, () => (names().includes(`command-${name}`) ? true : undefined))
  }
  // Were anybody to wait for it, each of the three would have been tried there.
  expect(dead.requests.length).toBeLessThan(3)
  expect(server.requests).toHaveLength(3)
})

test('oneshot sends the notification about a session that clean has removed', { tags: ['extended'] }, async () => {
  userConfig(testHome, hook())
  server.replies.push(503)
  await testHome.run('--headless', '--', 'true')
  await testHome.ended('command-true')
  await untilTold(1)
  await testHome.ok('clean', 'command-true')
  expect((await untilTold(2)).map(({ text }) => text)).toEqual(Array(2).fill('command-true is done: exit code 0'))
})

test('the supervisor reads the current channels; a broken configuration harms no work and loses no notice', async () => {
  testHome.env['ONESHOT_TEST_TIMINGS'] = 'servicePause=300'
  await testHome.run('--name', 'before', '--headless', '--', 'true')
  await testHome.ended('before')
  userConfig(testHome, hook())
  await testHome.run('--name', 'first', '--headless', '--', 'sh', '-c', 'until [ -e go ]; do sleep 0.05; done')
  userConfig(testHome, 'this is not TOML')
  fs.writeFileSync(testHome.path('go'), '')
  await waitUntil('the supervisor says so', () => (/is not TOML/.test(log()) ? true : undefined))
  expect(await testHome.ended('first')).toMatchObject({ outcome: 'done' })
  userConfig(testHome, hook())
  await testHome.run('--name', 'second', '--headless', '--', 'true')
  await untilTold(2)
  expect(names().sort()).toEqual(['command-first', 'command-second'])
})

test('a bell rings on the terminal on which the user started the session', async () => {
  userConfig(testHome, '[notify.ring]\ntype = "bell"\n')
  const terminal = await Terminal.open(testHome)
  await terminal.enter('oneshot run --name asked -- sleep 0.2')
  await waitUntil('it has rung', async () => ((await terminal.hasRung()) ? true : undefined))
})

test('a bell rings on an attached terminal, and writes nothing into the output of a session', {
  tags: ['extended'],
}, async () => {
  userConfig(testHome, '[notify.ring]\ntype = "bell"\n')
  const shown = await testHome.run('--name', 'shown', '--', 'sh', '-c', 'echo here I am; sleep 600')
  const terminal = await Terminal.open(testHome)
  await terminal.enter('oneshot attach shown')
  await terminal.shows('here I am')
  expect(await terminal.hasRung()).toBe(false)
  await testHome.run('--name', 'other', '--', 'true')
  await waitUntil('it has rung', async () => ((await terminal.hasRung()) ? true : undefined))
  expect(testHome.output(shown).includes(7)).toBe(false)
})

test('notify test reports the result of each channel, and fails if one channel fails', async () => {
  const bin = binFolder(testHome, {
    tools: ['tmux'],
    scripts: { openclaw: `printf '%s\\n' "$@" >'${testHome.path('said')}'` },
  })
  testHome.env['PATH'] = `${bin}:${process.env['PATH']}`
  userConfig(
    testHome,
    `${hook()}[notify.claw]\ntype = "openclaw"\n[notify.dead]\ntype = "slack"\nurl = "http://127.0.0.1:1/s3cretive"\n`,
  )
  const all = await testHome.oneshot('notify', 'test')
  expect(all.code).toBe(1)
  expect(all.stdout.split('\n').map(line => line.trimEnd())).toEqual([
    `✔ sent   hook: posted to ${new URL(server.url).host}`,
    '✔ sent   claw: handed to openclaw',
    '✖ failed dead: connect ECONNREFUSED 127.0.0.1:1',
    '',
  ])
  expect(fs.readFileSync(testHome.path('said'), 'utf8')).toContain('--text\noneshot: this is a test of oneshot’s')
  expect(await testHome.json<ChannelTestView[]>('notify', 'test', 'hook')).toMatchObject([
    { channel: 'hook', ok: true },
  ])
  expect(server.bodies()).toMatchObject([{ event: 'test' }, { event: 'test' }])
  await expectRefusal(testHome, ['notify', 'test', 'hok'], {
    exit: 3,
    code: 'no-channel',
    says: 'there is no channel hok',
    hint: 'did you mean hook?',
  })
})

test('a successful notify test sends the notices that waited for the channel at once', {
  tags: ['extended'],
}, async () => {
  userConfig(testHome, hook())
  server.replies.push(500, 500)
  await testHome.run('--headless', '--', 'true')
  await untilTold(2) // Now it would wait for ten seconds.
  await waitUntil('it waits', async () => ((await channels())[0]?.nextAt === null ? undefined : true))
  await testHome.ok('notify', 'test', 'hook')
  await waitUntil('it is told', async () => ((await channels())[0]?.pending === 0 ? true : undefined), 8_000)
})

test('notify tests and lists nothing if no channel is configured', async () => {
  await expectRefusal(testHome, ['notify', 'test'], {
    exit: 3,
    code: 'no-channel',
    says: 'no channel is configured',
    hint: '[notify.NAME]',
  })
  expect(await testHome.ok('notify')).toBe('')
  expect(await channels()).toEqual([])
})

test('oneshot shows the secrets of channels nowhere', async () => {
  const token = 'tk_s3cretive'
  const file = userConfig(
    testHome,
    `[notify.phone]
type = "ntfy"
url = "http://127.0.0.1:1/topic-${token}"
token = "${token}"
[notify.mail]
type = "email"
to = "a@b.test"
url = "smtp://me:pw-${token}@127.0.0.1:1"
[notify.chat]
type = "telegram"
chat = "1"
token-env = "NOT_SET"
`,
  )
  fs.chmodSync(file, 0o644)
  await testHome.run('--headless', '--', 'true')
  await testHome.ended('command-true')
  await waitUntil('all was tried', async () =>
    (await channels()).every(({ failure }) => failure !== null) ? true : undefined,
  )
  const shown: string[] = [log()]
  for (const args of [
    ['notify'],
    ['notify', '--json'],
    ['notify', 'test'],
    ['config'],
    ['config', '--json'],
    ['doctor'],
  ]) {
    const { stdout, stderr } = await testHome.oneshot(...args)
    shown.push(stdout, stderr)
  }
  const all = shown.join('\n')
  expect(all).not.toContain('s3cretive')
  expect(all).toContain('‹hidden›')
  expect(all).toContain('NOT_SET is not set')
  expect(all).toContain('holds secrets and can be read by others')
  const database = fs.readFileSync(testHome.home.database).toString('latin1')
  expect(database.includes('s3cretive')).toBe(false)
})

test('doctor reports the missing program of a channel', async () => {
  userConfig(testHome, '[notify.claw]\ntype = "openclaw"\n[notify.own]\ntype = "command"\nrun = "/nowhere/tell"\n')
  const { stdout } = await testHome.oneshot('doctor')
  expect(stdout).toMatch(/warning +notify claw: openclaw is not on PATH/)
  expect(stdout).toMatch(/warning +notify own: \/nowhere\/tell is not on PATH/)
})

test.each(['start', 'starttls'] as const)('oneshot sends a mail under TLS if the server offers it (%s)', async from => {
  const { key, cert, file } = await certificate()
  const mails = await MailServer.open({ auth: 'PLAIN', tls: { key, cert, from } })
  testHome.defer(() => mails.close())
  testHome.env['NODE_EXTRA_CA_CERTS'] = file
  const scheme = from === 'start' ? 'smtps' : 'smtp'
  userConfig(
    testHome,
    `[notify.mail]\ntype = "email"\nto = "a@b.test"\nurl = "${scheme}://me:pw@localhost:${mails.port}"\n`,
  )
  await testHome.ok('notify', 'test', 'mail')
  expect(mails.mails).toMatchObject([{ to: ['a@b.test'], isSecure: true, login: 'me:pw' }])
  expect(mails.mails.map(readMail)).toMatchObject([{ subject: 'oneshot: oneshot test' }])
})

test('oneshot sends nothing to a mail server with a false certificate', async () => {
  const { key, cert } = await certificate()
  const mails = await MailServer.open({ auth: 'PLAIN', tls: { key, cert, from: 'starttls' } })
  testHome.defer(() => mails.close())
  userConfig(testHome, `[notify.mail]\ntype = "email"\nto = "a@b.test"\nurl = "smtp://me:pw@localhost:${mails.port}"\n`)
  const { code, stdout } = await testHome.oneshot('notify', 'test', 'mail')
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: expect.stringMatching(/failed mail: .*(self-signed|certificate)/),
  })
  expect(mails.mails).toEqual([])
})

function channels(): Promise<ChannelView[]> {
  return testHome.json<ChannelView[]>('notify')
}

function log(): string {
  return fs.readFileSync(testHome.home.daemonLog, 'utf8')
}

async function certificate(): Promise<{ key: string; cert: string; file: string }> {
  const [key, file] = [path.join(testHome.root, 'key.pem'), path.join(testHome.root, 'cert.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const made = await run('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    key,
    '-out',
    file,
    ...subject,
  ])
  expect(made.code).toBe(0)
  return { key: fs.readFileSync(key, 'utf8'), cert: fs.readFileSync(file, 'utf8'), file }
}
