import fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { MessageView, SessionView } from '../../src/api/contract/responses.ts'
import { expectRefusal } from './expect-refusal.ts'
import { TestHome, waitUntil } from './test-home.ts'
import { Terminal } from './terminal.ts'

let testHome: TestHome
beforeAll(() => {
  testHome = new TestHome()
})
beforeEach(() => testHome.beginTest())
afterEach(() => testHome.endTest())
afterAll(() => testHome.close())

const demo = (name: string, prompt: string): Promise<SessionView> =>
  testHome.run('--agent', 'demo', '--name', name, prompt)
const messagesOf = (name: string): Promise<MessageView[]> => testHome.json<MessageView[]>('messages', name)
const statesOf = async (name: string): Promise<string[]> => (await messagesOf(name)).map(({ state }) => state)

/** A turn that goes on until it is stopped or has waited long enough. */
const LONG = 'long steps=1000 delay=50ms'

async function running(name: string): Promise<void> {
  await waitUntil('it has read its prompt', async () => ((await statesOf(name))[0] === 'confirmed' ? true : undefined))
}

it('a running agent reads a message once, after its turn, in the same thread', async () => {
  const { thread } = await demo('auth', 'first write=notes.txt steps=4 delay=150ms')
  expect(await testHome.ok('send', 'auth', 'second write=more.txt steps=2 delay=10ms')).toBe('2')
  expect(await testHome.ok('send', 'third write=last.txt steps=1 delay=10ms')).toBe('3')
  const end = await testHome.ended('auth')
  expect(end).toMatchObject({
    outcome: 'done',
    attempt: 3,
    restarts: 0,
    messages: { accepted: 3, confirmed: 3 },
    ...(thread !== null && { thread }),
  })
  const written = ['notes.txt', 'more.txt', 'last.txt'].map(file => fs.readFileSync(testHome.path(file), 'utf8'))
  expect(written).toEqual(['step 1\nstep 2\nstep 3\nstep 4\n', 'step 1\nstep 2\n', 'step 1\n'])
  expect(await statesOf('auth')).toEqual(['confirmed', 'confirmed', 'confirmed'])
})

it('send starts an ended session again', async () => {
  await demo('auth', 'first steps=1 delay=1ms')
  await testHome.ended('auth')
  const { session, message } = await testHome.json<{ session: SessionView; message: MessageView }>(
    'send',
    'auth',
    'again',
  )
  expect(session).toMatchObject({ name: 'demo-auth', outcome: null, messages: { accepted: 2, confirmed: 1 } })
  expect(message).toMatchObject({ number: 2, gist: 'again', state: 'delivered' })
  expect((await testHome.oneshot('wait', 'auth')).code).toBe(0)
  expect(await testHome.status('auth')).toMatchObject({ outcome: 'done', attempt: 2 })
})

it('send --follow shows the output from then on and exits with the outcome', async () => {
  await demo('auth', 'first steps=1 delay=1ms')
  await testHome.ended('auth')
  const { code, stdout, stderr } = await testHome.oneshot(
    'send',
    'auth',
    'second fail=yes steps=1 delay=1ms',
    '--follow',
  )
  expect(code).toBe(1)
  expect(stdout).toContain('I will work on: second fail=yes')
  expect(stdout).not.toContain('I will work on: first')
  expect(stderr).toMatch(
    /^message 2 accepted; demo-auth starts again and gets it now {2}\(Ctrl-C leaves it running\)\n✖ failed/,
  )
})

it('messages shows a table, and oneshot keeps each message byte for byte', { tags: ['extended'] }, async () => {
  await demo('auth', LONG)
  await running('auth')
  const bytes = Buffer.from('second\nline $(touch pwned) \u001b[31m\0\xff', 'latin1')
  await testHome.call(['send', 'auth', '-'], { input: bytes })
  fs.writeFileSync(testHome.path('review.md'), 'third\n')
  await testHome.ok('send', '--file', 'review.md')
  const rows = (await testHome.ok('messages')).split('\n').map(line => line.split(/ {2,}/))
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT/)
  expect(rows).toEqual([
    ['NO', 'STATE', 'SINCE', 'TEXT'],
    ['1', '✔ confirmed', time, LONG],
    ['2', '◌ accepted', time, 'second'],
    ['3', '◌ accepted', time, 'third'],
  ])
  expect(await testHome.ok('messages', '-q')).toBe('1\n2\n3')
  await testHome.ok('daemon', 'stop')
  const { stdout } = await testHome.oneshot('messages', 'auth', '--full', '2', '--json')
  expect(JSON.parse(stdout)).toMatchObject({ number: 2, gist: 'second', text: bytes.toString() })
  const { id } = await testHome.status('auth')
  const kept = fs.readFileSync(path.join(testHome.home.sessions, id, 'messages', '2'))
  expect(kept.equals(bytes)).toBe(true)
  expect(await testHome.ok('messages', '--full', '3')).toBe('third')
  expect((await testHome.oneshot('messages', '--full', '4')).stderr).toBe(
    'error: demo-auth was given 3 messages, and no message 4\nhint: oneshot messages demo-auth\n',
  )
  expect(fs.existsSync(testHome.path('pwned'))).toBe(false)
})

it('send without a name chooses the latest agent, not a command that was started later', async () => {
  await demo('auth', LONG)
  await testHome.run('--name', 'server', '--headless', '--', 'sleep', '1000')
  expect(await testHome.json('send', 'hello')).toMatchObject({ session: { name: 'demo-auth' } })
})

describe('oneshot send', () => {
  it('refuses the name of a session without a text and does not send the name', async () => {
    await demo('auth', LONG)
    for (const name of ['auth', 'demo-auth']) {
      await expectRefusal(testHome, ['send', name], {
        exit: 2,
        code: 'usage',
        says: `there is no text for ${name}`,
        hint: `oneshot send ${name} "now add tests"`,
      })
    }
    expect(await messagesOf('auth')).toHaveLength(1)
  })

  it('refuses an empty text, two texts, an unreadable file and an unknown session', async () => {
    await demo('auth', LONG)
    const cases = [
      [['send'], 'usage', 'send needs a text', 'oneshot send "now add tests"', 2],
      [['send', 'auth', ' \n'], 'message-empty', 'the message is empty', 'say what it is to read', 2],
      [['send', 'auth', 'x', '--file', 'y'], 'usage', 'there are two texts', 'give one of them', 2],
      [['send', 'auth', '--file', 'nowhere'], 'prompt-unreadable', 'cannot read the message from nowhere', '--file', 2],
      [['send', 'atuh', 'x'], 'no-session', 'there is no session "atuh"', 'did you mean auth?', 3],
      [['send', 'fix', 'the', 'bug'], 'usage', 'does not take the argument "bug"', 'quote the text', 2],
    ] as const
    for (const [args, code, says, hint, exit] of cases) await expectRefusal(testHome, args, { exit, code, says, hint })
  })

  it('refuses a message to a command', async () => {
    await testHome.run('--name', 'server', '--headless', '--', 'sleep', '1000')
    await expectRefusal(testHome, ['send', 'server', 'hello'], {
      exit: 2,
      code: 'takes-no-messages',
      says: 'command-server is a command, and reads no messages',
      hint: 'oneshot attach command-server',
    })
    expect(await testHome.oneshot('messages', 'server')).toMatchObject({ code: 0, stdout: '' })
  })
})

it('send at a terminal tells when the agent gets the message', async () => {
  await demo('auth', LONG)
  await running('auth')
  const terminal = await Terminal.open(testHome)
  await terminal.enter('oneshot send "now add tests"; echo "code=$?"')
  expect(await terminal.shows('code=0')).toContain('message 2 accepted; it is delivered when the current turn ends')
  await terminal.enter('oneshot send auth "and docs"; echo "again=$?"')
  expect(await terminal.shows('again=0')).toContain('message 3 accepted; it is delivered after message 2')
  await terminal.enter('oneshot stop -q; clear; oneshot send auth - ; echo "typed=$?"')
  await terminal.shows('reading the message from this terminal; end it with Ctrl-D')
  await terminal.enter('typed steps=1 delay=1ms')
  await terminal.press('C-d')
  expect(await terminal.shows('typed=0')).toMatch(/message 4 accepted; demo-auth starts again and gets it after/)
})

it('send records a message once although the connection breaks before the first answer', async () => {
  await demo('auth', LONG)
  await running('auth')
  const { answered, restore } = await cutOffFirstAnswer(testHome)
  try {
    expect(await testHome.ok('send', 'auth', 'only once')).toBe('2')
  } finally {
    await restore()
  }
  expect(answered).toEqual(['cut off', 'passed on'])
  expect((await messagesOf('auth')).map(({ gist }) => gist)).toEqual([LONG, 'only once'])
})

/** A proxy of the supervisor that breaks the connection once, after a message was recorded and before the answer. */
async function cutOffFirstAnswer({ home }: TestHome): Promise<{ answered: string[]; restore: () => Promise<void> }> {
  const behind = `${home.daemonSocket}.behind`
  fs.renameSync(home.daemonSocket, behind)
  const answered: string[] = []
  const pass = async (request: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
    const body = Buffer.concat(await request.toArray())
    const { method, url: path = '/', headers } = request
    // Each request gets its own connection: the supervisor closes idle ones, and a closing one cannot be used.
    const forward = http.request({ socketPath: behind, method, path, headers, agent: false }, reply => {
      const chunks: Buffer[] = []
      reply.on('data', (chunk: Buffer) => chunks.push(chunk))
      reply.on('end', () => {
        const isMessage = path.endsWith('/messages')
        if (isMessage) answered.push(answered.length === 0 ? 'cut off' : 'passed on')
        if (isMessage && answered.length === 1) request.socket.destroy()
        else response.writeHead(reply.statusCode ?? 500, reply.headers).end(Buffer.concat(chunks))
      })
    })
    forward.on('error', () => request.socket.destroy())
    forward.end(body)
  }
  const server = http.createServer((request, response) => void pass(request, response))
  await new Promise<void>(resolve => server.listen(home.daemonSocket, resolve))
  const restore = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
    fs.renameSync(behind, home.daemonSocket)
  }
  return { answered, restore }
}

it('send restarts a killed supervisor, and the agent reads the message once', async () => {
  await demo('auth', 'first steps=10 delay=100ms')
  await running('auth')
  process.kill((await testHome.daemon()).pid, 'SIGKILL')
  expect(await testHome.ok('send', 'auth', 'second write=more.txt steps=2 delay=1ms')).toBe('2')
  expect(await testHome.ended('auth')).toMatchObject({ outcome: 'done', attempt: 2 })
  expect(fs.readFileSync(testHome.path('more.txt'), 'utf8')).toBe('step 1\nstep 2\n')
})
