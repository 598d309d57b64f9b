import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { Trouble } from '../../src/lib/trouble.ts'
import { type GitBench, NEVER, occasion, openGitBench, put, saved } from '../contracts/git-bench.ts'
import { beginProject } from '../system/git-project.ts'
import { House, until } from '../system/house.ts'
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
async function serve(bench: GitBench, remote: string, logins: string[]): Promise<string> {
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
        ...bench.env,
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
  await until('somebody looks', () => (seen.startsWith('ready') ? true : undefined))
  return () => seen.split('\n').slice(1, -1)
}

function begin(): { bench: GitBench; repo: string; remote: string } {
  const bench = openGitBench()
  const remote = bench.repository('remote.git', '--bare')
  bench.git(remote, 'config', 'http.receivepack', 'true')
  const repo = bench.repository('repo')
  put(repo, 'a.txt', 'a\n')
  bench.git(repo, 'add', '.')
  bench.git(repo, 'commit', '--quiet', '--message', 'first')
  return { bench, repo, remote }
}

const env = (bench: GitBench): Record<string, string> => bench.env as Record<string, string>

test('a password in an address works, and is in no argument list of git or of what git starts', async () => {
  const { bench, repo, remote } = begin()
  const logins: string[] = []
  const address = await serve(bench, remote, logins)
  const withPassword = `http://me:${TOKEN}@${address}`
  const checkpoints = bench.checkpoints()
  const keeping = bench.keeping(repo)
  await saved(checkpoints.save(keeping, occasion(), NEVER))
  const seen = await poll(TOKEN)
  await checkpoints.push(keeping, withPassword, env(bench), NEVER)
  fs.appendFileSync(
    path.join(repo, '.git/config'),
    `[remote "second"]\n\turl = ${withPassword.replace('horse', 'h%6Frse')}\n`,
  )
  await checkpoints.fetch(repo, { remote: 'second', env: env(bench) }, all => all, NEVER)
  // So do many machines that build: the user's own configuration puts the password in.
  const rewriting = `[url "${withPassword}"]\n\tinsteadOf = http://plain.invalid/remote.git\n`
  fs.appendFileSync(path.join(bench.root, 'home/.gitconfig'), rewriting)
  await checkpoints.fetch(repo, { remote: 'http://plain.invalid/remote.git', env: env(bench) }, all => all, NEVER)
  expect(bench.git(remote, 'for-each-ref', '--format=%(refname)')).toContain(
    `refs/oneshot/demo-work/${keeping.sessionId}`,
  )
  expect(logins.filter(login => login !== '').length).toBeGreaterThan(3)
  expect(seen()).toEqual([])
})

test('a wrong password, or a token in the place of the name, is in no error and no argument list', async () => {
  const { bench, repo, remote } = begin()
  const address = await serve(bench, remote, [])
  const checkpoints = bench.checkpoints()
  const keeping = bench.keeping(repo)
  await saved(checkpoints.save(keeping, occasion(), NEVER))
  const seen = await poll('wrong-horse', NAME)
  for (const login of ['me:wrong-horse', NAME, `${NAME}:`, 'me:wrong-horse@again', 'me:wrong-horse%40']) {
    const trouble = await checkpoints
      .push(keeping, `http://${login}@${address}`, env(bench), NEVER)
      .catch((cause: unknown) => cause)
    expect(trouble).toBeInstanceOf(Trouble)
    expect(`${trouble}`).toContain('pushing to the remote')
    expect(JSON.stringify([`${trouble}`, trouble])).not.toMatch(/wrong-horse|ghp-in/)
  }
  expect(seen()).toEqual([])
})

test('an address whose password only a helper could read is refused, and the helper is not started', async () => {
  const { bench, repo } = begin()
  const bin = path.join(bench.root, 'bin')
  put(bin, 'git-remote-far', `#!/bin/sh\necho "$@" >> ${bench.root}/args\nexit 1\n`, 0o755)
  const reach = { ...env(bench), PATH: `${bin}:${bench.env['PATH']}` }
  const checkpoints = bench.checkpoints()
  const keeping = bench.keeping(repo)
  await saved(checkpoints.save(keeping, occasion(), NEVER))
  for (const remote of [`far://me:${TOKEN}@host/x`, `far::https://me:${TOKEN}@host/x`, `ssh://me:${TOKEN}@host/x`]) {
    await expect(checkpoints.push(keeping, remote, reach, NEVER)).rejects.toMatchObject({
      message: expect.stringMatching(/^pushing to the remote: git would show the password in its address/),
      mayHelpToRetry: false,
    })
  }
  await expect(checkpoints.push(keeping, 'far://profile@host/x', reach, NEVER)).rejects.toThrow()
  expect(fs.readFileSync(path.join(bench.root, 'args'), 'utf8')).toContain('far://profile@host/x')
  expect(fs.readFileSync(path.join(bench.root, 'args'), 'utf8')).not.toContain(TOKEN)
})

test('a token elsewhere in an address than before the @ is refused, and git is not started with it', async () => {
  const { bench, repo } = begin()
  const checkpoints = bench.checkpoints()
  const keeping = bench.keeping(repo)
  await saved(checkpoints.save(keeping, occasion(), NEVER))
  const seen = await poll(TOKEN)
  const places = [`x.git?private_token=${TOKEN}`, `x.git?a=b&access_token=${TOKEN}`, `ghp_${'a1B2'.repeat(9)}/x.git`]
  for (const login of ['', 'me@', 'me:word@'])
    for (const place of places) {
      const remote = `http://${login}127.0.0.1:1/${place}`
      const refused = 'git would show the password in its address'
      await expect(checkpoints.push(keeping, remote, env(bench), NEVER)).rejects.toThrow(refused)
      await expect(checkpoints.fetch(repo, { remote, env: env(bench) }, all => all, NEVER)).rejects.toThrow(refused)
    }
  await expect(checkpoints.push(keeping, 'http://127.0.0.1:1/key/x.git?a=b', env(bench), NEVER)).rejects.toThrow(
    /connect/i,
  )
  expect(seen()).toEqual([])
})

test('the password of an address goes to its own server only', async () => {
  const { bench, repo, remote } = begin()
  const logins: string[] = []
  const address = await serve(bench, remote, logins)
  const elsewhere = http.createServer((request, response) => {
    response.writeHead(302, { location: `http://${address}${request.url?.replace('/remote.git', '')}` }).end()
  })
  await new Promise<void>(resolve => elsewhere.listen(0, '127.0.0.1', resolve))
  const checkpoints = bench.checkpoints()
  const keeping = bench.keeping(repo)
  await saved(checkpoints.save(keeping, occasion(), NEVER))
  const { port } = elsewhere.address() as AddressInfo
  const push = checkpoints.push(keeping, `http://me:${TOKEN}@127.0.0.1:${port}/remote.git`, env(bench), NEVER)
  await expect(push).rejects.toThrow(Trouble)
  elsewhere.closeAllConnections()
  elsewhere.close()
  expect(new Set(logins)).toEqual(new Set(['']))
})

test('an address with a password that cannot be reached shows it nowhere', async () => {
  const house = new House()
  onTestFinished(() => house.close())
  await beginProject(house)
  const address = `http://me:${TOKEN}@127.0.0.1:1/x.git`
  await house.ok('run', '--push', address, '--agent', 'demo', '--name', 'far', 'steps=1 delay=1ms write=notes')
  const view = await until('it is told', async () => (await house.status('far')).push?.trouble ?? undefined)
  await house.ended('far')
  const from = await house.oneshot('resume', 'far', '--from', address, '--dry-run')
  const shown = [
    JSON.stringify(view),
    JSON.stringify(await house.list()),
    await house.ok('status', 'far'),
    await house.ok('log', 'far'),
    await house.ok('events', 'far'),
    await house.ok('daemon', 'log'),
    fs.readFileSync(house.home.daemonLog, 'utf8'),
    `${from.stdout}${from.stderr}`,
    ...fs
      .readdirSync(house.path('.agent'), { recursive: true, withFileTypes: true })
      .flatMap(entry => (entry.isFile() ? [fs.readFileSync(path.join(entry.parentPath, entry.name), 'utf8')] : [])),
  ]
  expect(shown.join('\n')).toContain('127.0.0.1')
  for (const text of shown) expect(text).not.toContain(TOKEN)
})
