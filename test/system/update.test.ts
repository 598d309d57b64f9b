import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { DaemonView, SessionView } from '../../src/api/contract/responses.ts'
import { type RunResult, run } from '../../src/os/run.ts'
import { TestHome, isAlive, waitUntil } from './test-home.ts'

const root = path.resolve(import.meta.dirname, '../..')
const VERSION: string = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')).version

/** npm works offline, from node_modules, and the commits have a neutral author. */
const AUTHOR = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a' }
const ENVIRONMENT = {
  ...AUTHOR,
  GIT_CONFIG_NOSYSTEM: '1',
  npm_config_offline: 'true',
  npm_config_update_notifier: 'false',
}

/** The line that names the old and the new version and commit. */
const UPDATED = expect.stringMatching(/^updated: \S+ → 9\.9\.9 \([0-9a-f]{8} → [0-9a-f]{8}\)\n$/) as string

/** `theirs` publishes new versions; the tests run oneshot from `clone` and update it. */
let testHome: TestHome
let theirs: string
let clone: string
beforeEach(async () => {
  testHome = new TestHome(ENVIRONMENT)
  theirs = path.join(testHome.root, 'theirs')
  clone = path.join(testHome.root, 'clone')
  copySources(theirs)
  await git(theirs, 'init', '--quiet', '--initial-branch=main')
  await commit('first')
  const remote = path.join(testHome.root, 'remote.git')
  await git(testHome.root, 'clone', '--quiet', '--bare', theirs, remote)
  await git(theirs, 'remote', 'add', 'origin', remote)
  await git(testHome.root, 'clone', '--quiet', remote, clone)
  await copyPackages()
})
afterEach(() => testHome.close())

async function must(program: string, args: readonly string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await run(program, args, { cwd, env: testHome.env, timeout: 60_000 })
  expect({ program, args, code, stderr: code === 0 ? '' : stderr }).toMatchObject({ code: 0 })
  return stdout.trim()
}

const git = (cwd: string, ...args: string[]): Promise<string> => must('git', args, cwd)
const head = (): Promise<string> => git(clone, 'rev-parse', 'HEAD')

/** The product as it stands here, committed or not. */
function copySources(target: string): void {
  const isSource = (name: string): boolean => !/^(node_modules|dist.*|\.git|\.oneshot-build\.lock)$/.test(name)
  for (const name of fs.readdirSync(root).filter(isSource)) {
    fs.cpSync(path.join(root, name), path.join(target, name), { recursive: true })
  }
}

/** By hard links where that is possible; npm replaces files and never writes into them. */
async function copyPackages(): Promise<void> {
  const packages = path.join(clone, 'node_modules')
  const installed = fs.realpathSync(path.join(root, 'node_modules'))
  const linked = await run('cp', ['-al', installed, packages])
  if (linked.code !== 0) await must('cp', ['-a', installed, clone], clone)
  const stamp = path.join(packages, '.package-lock.json')
  const text = fs.readFileSync(stamp)
  fs.rmSync(stamp)
  fs.writeFileSync(stamp, text)
}

async function commit(message: string): Promise<void> {
  await git(theirs, 'add', '--all')
  await git(theirs, 'commit', '--quiet', '--message', message)
}

async function publish(version: string): Promise<void> {
  const file = path.join(theirs, 'package.json')
  fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(/"version": "[^"]+"/, `"version": "${version}"`))
  await commit(version)
  await git(theirs, 'push', '--quiet', 'origin', 'main')
}

const oneshot = (...args: string[]): Promise<RunResult> =>
  run(path.join(clone, 'oneshot'), args, { cwd: testHome.project, env: testHome.env, timeout: 60_000 })

async function json<T>(...args: string[]): Promise<T> {
  return JSON.parse(await must(path.join(clone, 'oneshot'), args, testHome.project)) as T
}

it('update fast-forwards and rebuilds a clone while a session runs, and the new supervisor takes the session over', {
  tags: ['extended'],
}, async () => {
  const script = 'until [ -e go ]; do sleep 0.02; done; exit 5'
  const session = await json<SessionView>('run', '--json', '--name', 'long', '--headless', '--', 'sh', '-c', script)
  const before = await json<DaemonView>('daemon', 'status', '--json')
  expect(before.version).toBe(VERSION)
  expect(await oneshot('update', '--check')).toMatchObject({ code: 0, stdout: `${VERSION}: up to date\n` })

  await publish('9.9.9')
  const old = await head()
  expect(await oneshot('update', '--check')).toMatchObject({
    code: 0,
    stdout: `${VERSION}: 1 commit behind\n`,
    stderr: '',
  })
  expect(await json('update', '--check', '--json')).toMatchObject({
    version: VERSION,
    isNew: true,
    text: '1 commit behind',
  })
  expect(await head()).toBe(old)
  expect(await json<DaemonView>('daemon', 'status', '--json')).toEqual(before)

  expect(await oneshot('update')).toMatchObject({ code: 0, stdout: UPDATED, stderr: '' })
  expect(await oneshot('--version')).toMatchObject({ stdout: '9.9.9\n', stderr: '' })
  const after = await json<DaemonView>('daemon', 'status', '--json')
  expect(after).toMatchObject({ version: '9.9.9', epoch: before.epoch + 1, sessions: { live: 1, ended: 0 } })
  expect(isAlive(before.pid)).toBe(false)
  expect(await json('status', 'long', '--json')).toMatchObject({ phase: 'running', pid: session.pid, restarts: 0 })
  expect(await git(clone, 'status', '--porcelain')).toBe('')

  expect(await oneshot('update')).toMatchObject({ code: 0, stdout: 'up to date: 9.9.9\n' })
  expect(await json<DaemonView>('daemon', 'status', '--json')).toEqual(after)
  fs.writeFileSync(testHome.path('go'), '')
  expect((await oneshot('wait', 'long')).code).toBe(5)
})

it('update refuses a clone that cannot be fast-forwarded, and changes nothing', { tags: ['extended'] }, async () => {
  await publish('9.9.9')
  const refused = async (sentence: string | RegExp, hint: string): Promise<void> => {
    const before = await head()
    const answer = await oneshot('update')
    expect(answer).toMatchObject({ code: 1, stdout: '' })
    expect(answer.stderr).toMatch(sentence)
    expect(answer.stderr).toContain(`hint: ${hint}`)
    expect(await head()).toBe(before)
    expect((await oneshot('--version')).stdout).toBe(`${VERSION}\n`)
  }
  fs.appendFileSync(path.join(clone, 'README.md'), 'mine\n')
  await refused(`error: ${clone} has local changes`, 'commit or stash them')
  expect(fs.readFileSync(path.join(clone, 'README.md'), 'utf8')).toMatch(/mine\n$/)

  await git(clone, 'commit', '--quiet', '--all', '--message', 'mine')
  await refused(/error: git pull --ff-only failed in .*(fast-forward|diverg)/i, 'the running version is unchanged')

  await git(clone, 'checkout', '--quiet', '--no-track', '-b', 'own')
  await refused(
    `error: the branch checked out in ${clone} follows no other`,
    `git -C ${clone} branch --set-upstream-to`,
  )
  expect((await oneshot('update', '--check')).code).toBe(1)

  await git(clone, 'checkout', '--quiet', 'main')
  await git(clone, 'reset', '--quiet', '--hard', 'HEAD~1')
  await git(clone, 'remote', 'set-url', 'origin', path.join(testHome.root, 'gone.git'))
  await refused('error: git pull --ff-only failed in', 'the running version is unchanged')
})

it('update reverts a version that cannot be built, and the next update works', { tags: ['extended'] }, async () => {
  const session = await json<SessionView>('run', '--json', '--name', 'long', '--headless', '--', 'sleep', '1000')
  const before = await json<DaemonView>('daemon', 'status', '--json')
  const old = await head()
  const broken = path.join(theirs, 'src/lib/text/slug.ts')
  const good = fs.readFileSync(broken)
  fs.writeFileSync(broken, 'export const slug = {{{\n')
  await publish('9.9.8')
  const answer = await oneshot('update')
  expect(answer.code).toBe(1)
  expect(answer.stderr).toMatch(/error: .*scripts\/build\.mjs failed in /)
  expect(await head()).toBe(old)
  expect((await oneshot('--version')).stdout).toBe(`${VERSION}\n`)
  expect(await json<DaemonView>('daemon', 'status', '--json')).toEqual(before)

  fs.writeFileSync(broken, good)
  await publish('9.9.9')
  expect(await oneshot('update')).toMatchObject({ code: 0, stdout: UPDATED })
  await waitUntil('the new one supervises', async () =>
    (await json<DaemonView>('daemon', 'status', '--json')).version === '9.9.9' ? true : undefined,
  )
  expect(isAlive(session.pid as number)).toBe(true)
})
