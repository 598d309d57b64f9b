import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { Trouble } from '../../src/lib/errors.ts'
import {
  type GitFixture,
  NEVER,
  makeCheckpointRequest,
  openGitFixture,
  put,
  savedCheckpoint,
} from '../contracts/git-fixture.ts'
import { initProject } from '../system/git-project.ts'
import { TestHome, waitUntil } from '../system/test-home.ts'
import { ARGUMENT_POLLER } from './argument-poller.ts'

const TOKEN = 'glpat-correct.horse-battery'
const NAME = 'ghp-in-the-place-of-a-name'

let poller: ChildProcess | undefined
let server: http.Server | undefined
afterEach(() => {
  poller?.kill('SIGKILL')
  server?.closeAllConnections()
  server?.close()
})

/** Serves a bare repository to whoever shows the password, by git's own program for that. */
async function serve(fixture: GitFixture, remote: string, logins: string[]): Promise<string> {
  server = http.createServer((request, response) => {
    const {
      authorization,
      'content-type': type,
      'content-encoding': coding,
      'git-protocol': protocol,
    } = request.headers
    logins.push(authorization ?? '')
    const isIn = authorization === `Basic ${Buffer.from(`me:${TOKEN}`).toString('base64')}`
    if (!isIn) return void response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end(`no ${TOKEN}`)
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://host')
    const program = spawn('git', ['http-backend'], {
      env: {
        ...fixture.env,
        GIT_PROJECT_ROOT: path.dirname(remote),
        GIT_HTTP_EXPORT_ALL: '1',
        REMOTE_USER: 'me',
        REQUEST_METHOD: request.method,
        PATH_INFO: pathname,
        QUERY_STRING: searchParams.toString(),
        CONTENT_TYPE: type ?? '',
        HTTP_CONTENT_ENCODING: coding ?? '',
        GIT_PROTOCOL: String(protocol ?? ''),
      },
    })
    request.pipe(program.stdin)
    const chunks: Buffer[] = []
    program.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    program.on('close', () => {
      const all = Buffer.concat(chunks)
      const end = all.indexOf('\r\n\r\n')
      const lines = all.subarray(0, end).toString().split('\r\n')
      const headers = lines.map(line => line.split(': ') as [string, string])
      const status = Number(headers.find(([key]) => key === 'Status')?.[1]?.slice(0, 3) ?? 200)
      response.writeHead(status, Object.fromEntries(headers.filter(([key]) => key !== 'Status')))
      response.end(all.subarray(end + 4))
    })
  })
  await new Promise<void>(resolve => server?.listen(0, '127.0.0.1', resolve))
  return `127.0.0.1:${(server.address() as AddressInfo).port}/remote.git`
}

async function poll(...words: string[]): Promise<() => string[]> {
  let seen = ''
  poller = spawn('perl', ['-e', ARGUMENT_POLLER, ...words], { stdio: ['ignore', 'pipe', 'inherit'], cwd: '/' })
  poller.stdout?.on('data', (data: Buffer) => (seen += data.toString()))
  await waitUntil('somebody looks', () => (seen.startsWith('ready') ? true : undefined))
  return () => seen.split('\n').slice(1, -1)
}

function begin(): { bench: GitFixture; repo: string; remote: string } {
  const fixture = openGitFixture()
  const remote = fixture.repository('remote.git', '--bare')
  fixture.git(remote, 'config', 'http.receivepack', 'true')
  const repo = fixture.repository('repo')
  put(repo, 'a.txt', 'a\n')
  fixture.git(repo, 'add', '.')
  fixture.git(repo, 'commit', '--quiet', '--message', 'first')
  return { bench: fixture, repo, remote }
}

const env = (fixture: GitFixture): Record<string, string> => fixture.env as Record<string, string>

test('push and fetch use a password in an address and show it in no argument list of git and its programs', async () => {
  const { bench: fixture, repo, remote } = begin()
  const logins: string[] = []
  const address = await serve(fixture, remote, logins)
  const withPassword = `http://me:${TOKEN}@${address}`
  const checkpoints = fixture.checkpoints()
  const target = fixture.checkpointTarget(repo)
  await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  const seen = await poll(TOKEN)
  await checkpoints.push(target, withPassword, env(fixture), NEVER)
  fs.appendFileSync(
    path.join(repo, '.git/config'),
    `[remote "second"]\n\turl = ${withPassword.replace('horse', 'h%6Frse')}\n`,
  )
  await checkpoints.fetch(repo, { remote: 'second', env: env(fixture) }, all => all, NEVER)
  // So do many machines that build: the user's own configuration puts the password in.
  const rewriting = `[url "${withPassword}"]\n\tinsteadOf = http://plain.invalid/remote.git\n`
  fs.appendFileSync(path.join(fixture.root, 'home/.gitconfig'), rewriting)
  await checkpoints.fetch(repo, { remote: 'http://plain.invalid/remote.git', env: env(fixture) }, all => all, NEVER)
  expect(fixture.git(remote, 'for-each-ref', '--format=%(refname)')).toContain(
    `refs/oneshot/demo-work/${target.sessionId}`,
  )
  expect(logins.filter(login => login !== '').length).toBeGreaterThan(3)
  expect(seen()).toEqual([])
})

test('a push shows a wrong password, or a token in the place of the name, in no error and no argument list', async () => {
  const { bench: fixture, repo, remote } = begin()
  const address = await serve(fixture, remote, [])
  const checkpoints = fixture.checkpoints()
  const target = fixture.checkpointTarget(repo)
  await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  const seen = await poll('wrong-horse', NAME)
  for (const login of ['me:wrong-horse', NAME, `${NAME}:`, 'me:wrong-horse@again', 'me:wrong-horse%40']) {
    const trouble = await checkpoints
      .push(target, `http://${login}@${address}`, env(fixture), NEVER)
      .catch((cause: unknown) => cause)
    expect(trouble).toBeInstanceOf(Trouble)
    expect(`${trouble}`).toContain('pushing to the remote')
    expect(JSON.stringify([`${trouble}`, trouble])).not.toMatch(/wrong-horse|ghp-in/)
  }
  expect(seen()).toEqual([])
})

test('a push refuses an address whose password only a remote helper could read, and does not start the helper', async () => {
  const { bench: fixture, repo } = begin()
  const bin = path.join(fixture.root, 'bin')
  put(bin, 'git-remote-far', `#!/bin/sh\necho "$@" >> ${fixture.root}/args\nexit 1\n`, 0o755)
  const reach = { ...env(fixture), PATH: `${bin}:${fixture.env['PATH']}` }
  const checkpoints = fixture.checkpoints()
  const target = fixture.checkpointTarget(repo)
  await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  for (const remote of [`far://me:${TOKEN}@host/x`, `far::https://me:${TOKEN}@host/x`, `ssh://me:${TOKEN}@host/x`]) {
    await expect(checkpoints.push(target, remote, reach, NEVER)).rejects.toMatchObject({
      message: expect.stringMatching(/^pushing to the remote: git would show the password in its address/),
      mayHelpToRetry: false,
    })
  }
  await expect(checkpoints.push(target, 'far://profile@host/x', reach, NEVER)).rejects.toThrow()
  expect(fs.readFileSync(path.join(fixture.root, 'args'), 'utf8')).toContain('far://profile@host/x')
  expect(fs.readFileSync(path.join(fixture.root, 'args'), 'utf8')).not.toContain(TOKEN)
})

test('push and fetch refuse an address with a token elsewhere than before the @, and start no git with it', async () => {
  const { bench: fixture, repo } = begin()
  const checkpoints = fixture.checkpoints()
  const target = fixture.checkpointTarget(repo)
  await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  const seen = await poll(TOKEN)
  const places = [`x.git?private_token=${TOKEN}`, `x.git?a=b&access_token=${TOKEN}`, `ghp_${'a1B2'.repeat(9)}/x.git`]
  for (const login of ['', 'me@', 'me:word@'])
    for (const place of places) {
      const remote = `http://${login}127.0.0.1:1/${place}`
      const refused = 'git would show the password in its address'
      await expect(checkpoints.push(target, remote, env(fixture), NEVER)).rejects.toThrow(refused)
      await expect(checkpoints.fetch(repo, { remote, env: env(fixture) }, all => all, NEVER)).rejects.toThrow(refused)
    }
  await expect(checkpoints.push(target, 'http://127.0.0.1:1/key/x.git?a=b', env(fixture), NEVER)).rejects.toThrow(
    /connect/i,
  )
  expect(seen()).toEqual([])
})

test('a push sends the password of an address to its own server only', async () => {
  const { bench: fixture, repo, remote } = begin()
  const logins: string[] = []
  const address = await serve(fixture, remote, logins)
  const elsewhere = http.createServer((request, response) => {
    response.writeHead(302, { location: `http://${address}${request.url?.replace('/remote.git', '')}` }).end()
  })
  await new Promise<void>(resolve => elsewhere.listen(0, '127.0.0.1', resolve))
  const checkpoints = fixture.checkpoints()
  const target = fixture.checkpointTarget(repo)
  await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  const { port } = elsewhere.address() as AddressInfo
  const push = checkpoints.push(target, `http://me:${TOKEN}@127.0.0.1:${port}/remote.git`, env(fixture), NEVER)
  await expect(push).rejects.toThrow(Trouble)
  elsewhere.closeAllConnections()
  elsewhere.close()
  expect(new Set(logins)).toEqual(new Set(['']))
})

test('no command, log or project file shows the password of an address that oneshot cannot reach', async () => {
  const testHome = new TestHome()
  onTestFinished(() => testHome.close())
  await initProject(testHome)
  const address = `http://me:${TOKEN}@127.0.0.1:1/x.git`
  await testHome.ok('run', '--push', address, '--agent', 'demo', '--name', 'far', 'steps=1 delay=1ms write=notes')
  const view = await waitUntil('it is told', async () => (await testHome.status('far')).push?.trouble ?? undefined)
  await testHome.ended('far')
  const from = await testHome.oneshot('resume', 'far', '--from', address, '--dry-run')
  const shown = [
    JSON.stringify(view),
    JSON.stringify(await testHome.list()),
    await testHome.ok('status', 'far'),
    await testHome.ok('log', 'far'),
    await testHome.ok('events', 'far'),
    await testHome.ok('daemon', 'log'),
    fs.readFileSync(testHome.home.daemonLog, 'utf8'),
    `${from.stdout}${from.stderr}`,
    ...fs
      .readdirSync(testHome.path('.agent'), { recursive: true, withFileTypes: true })
      .flatMap(entry => (entry.isFile() ? [fs.readFileSync(path.join(entry.parentPath, entry.name), 'utf8')] : [])),
  ]
  expect(shown.join('\n')).toContain('127.0.0.1')
  for (const text of shown) expect(text).not.toContain(TOKEN)
})
