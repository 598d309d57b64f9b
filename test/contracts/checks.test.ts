import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { processesOf } from '../../testkit/system/process-list.ts'
import { waitUntil } from '../../testkit/system/wait-until.ts'
import { projectChecks } from '../../src/world/checks/detect-check.ts'

let root: string
let project: string
beforeEach(() => {
  root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'checks-')))
  project = path.join(root, 'project')
  fs.mkdirSync(path.join(project, '.git'), { recursive: true })
})
afterEach(async () => {
  await waitUntil('nothing of it is left', () => processesOf(root).length === 0, 5_000)
  fs.rmSync(root, { recursive: true, force: true })
})

const PROGRAMS = ['npm', 'pnpm', 'yarn', 'bun', 'pytest', 'python3', 'cargo', 'go', 'make']

/** A PATH with programs of these names and no others. */
function withPrograms(...names: string[]): { PATH: string } {
  const bin = fs.mkdtempSync(path.join(root, 'bin-'))
  for (const name of names) fs.writeFileSync(path.join(bin, name), '#!/bin/sh\n', { mode: 0o755 })
  return { PATH: bin }
}

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(project, name)), { recursive: true })
    fs.writeFileSync(path.join(project, name), content, { mode: name.includes('bin/') ? 0o755 : 0o644 })
  }
}

function detected(folder = '', programs = PROGRAMS): [line: string, why: string] | null {
  const check = projectChecks(withPrograms(...programs)).detect(path.join(project, folder))
  return check === null ? null : [check.line, check.why]
}

const scripts = (test: string, more: object = {}): string => JSON.stringify({ scripts: { test }, ...more })
const NPM = ['npm test', 'package.json has a test script']

describe('the detection of a check', () => {
  const cases: readonly [says: string, files: Record<string, string>, expected: readonly string[] | null][] = [
    ['none in an empty folder', {}, null],
    ['npm for a test script', { 'package.json': scripts('vitest run') }, NPM],
    [
      'none for the script that npm init writes',
      { 'package.json': scripts('echo "Error: no test specified" && exit 1') },
      null,
    ],
    ['none for a broken package.json', { 'package.json': '{"scripts": {"te' }, null],
    ['none for a package.json without scripts', { 'package.json': 'null' }, null],
    ['pnpm for its lock file', { 'package.json': scripts('x'), 'pnpm-lock.yaml': '' }, ['pnpm test', NPM[1] as string]],
    ['yarn for its lock file', { 'package.json': scripts('x'), 'yarn.lock': '' }, ['yarn test', NPM[1] as string]],
    ['bun for its lock file', { 'package.json': scripts('x'), 'bun.lockb': '' }, ['bun run test', NPM[1] as string]],
    [
      'the packageManager that package.json names',
      { 'package.json': scripts('x', { packageManager: 'pnpm@9.1.0' }) },
      ['pnpm test', NPM[1] ?? ''],
    ],
    ['pytest for a pytest.ini', { 'pytest.ini': '' }, ['pytest -q', 'there is a pytest.ini']],
    [
      'pytest for a pyproject.toml with settings for it',
      { 'pyproject.toml': '[project]\n[tool.pytest.ini_options]\n' },
      ['pytest -q', 'pyproject.toml has settings for pytest'],
    ],
    ['none for another pyproject.toml', { 'pyproject.toml': '[project]\n[tool.black]\n' }, null],
    [
      'pytest for a setup.cfg with settings for it',
      { 'setup.cfg': '[tool:pytest]\n' },
      ['pytest -q', 'setup.cfg has settings for pytest'],
    ],
    [
      'pytest for a tox.ini with settings for it',
      { 'tox.ini': '[tox]\n[pytest]\n' },
      ['pytest -q', 'tox.ini has settings for pytest'],
    ],
    ['pytest for files named test_*.py', { 'tests/test_a.py': '' }, ['pytest -q', 'tests has test_*.py files']],
    ['none for other files in tests', { 'tests/data.py': '' }, null],
    [
      'the pytest of the project’s own .venv',
      { 'test_a.py': '', '.venv/bin/pytest': '' },
      ['.venv/bin/pytest -q', 'there are test_*.py files'],
    ],
    ['cargo for a Cargo.toml', { 'Cargo.toml': '' }, ['cargo test', 'there is a Cargo.toml']],
    ['go for a go.mod', { 'go.mod': 'module m\n' }, ['go test ./...', 'there is a go.mod']],
    [
      'make for a test target',
      { Makefile: 'all:\n\techo\n\ntest: all\n\techo\n' },
      ['make test', 'Makefile has a test target'],
    ],
    [
      'make for one of several targets on a line',
      { Makefile: 'check test lint:\n\techo\n' },
      ['make test', 'Makefile has a test target'],
    ],
    [
      'none for a Makefile without a test target',
      { Makefile: '.PHONY: test\ntest := 1\ntests: a\nall: test\n\ttest: no\n# test: no\n' },
      null,
    ],
    ['the first of several build tools', { 'package.json': scripts('x'), 'Cargo.toml': '', Makefile: 'test:\n' }, NPM],
  ]
  it.each(cases)('returns the expected command: %s', (_, files, expected) => {
    write(files)
    expect(detected()).toEqual(expected)
  })

  it('searches upwards to the top of the repository, and the command changes to the folder where it found the check', () => {
    write({ 'package.json': scripts('x'), 'packages/a/package.json': scripts('y'), 'packages/b/deep/file': '' })
    write({ 'yarn.lock': '' })
    fs.writeFileSync(path.join(root, 'Makefile'), 'test:\n')
    expect(detected('packages/a')?.[0]).toBe('yarn test')
    expect(detected('packages/b/deep')?.[0]).toBe('cd ../../.. && yarn test')
    fs.rmSync(path.join(project, 'package.json'))
    expect(detected('packages/b/deep')).toBeNull()
    fs.rmSync(path.join(project, '.git'), { recursive: true })
    expect(detected()).toBeNull()
    expect(detected('gone')).toBeNull()
  })

  it('prefers an installed tool, and names the missing one if none is installed', () => {
    write({ 'Cargo.toml': '', Makefile: 'test:\n' })
    expect(detected('', ['make'])?.[0]).toBe('make test')
    expect(detected('', [])).toEqual(['cargo test', 'there is a Cargo.toml, but cargo is not on PATH'])
    write({ 'test_a.py': '' })
    expect(detected('', ['python3'])?.[0]).toBe('python3 -m pytest -q')
  })
})

describe('the run of a check', () => {
  const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', API_TOKEN: 'tok-abcdefgh12345' }
  const never = new AbortController().signal
  const log = (): string => path.join(root, 'logs', 'deep', 'log')

  function run(line: string, given: { limit?: number; ending?: AbortSignal; cwd?: string } = {}) {
    const at = { cwd: given.cwd ?? project, env, log: log(), limit: given.limit ?? 60_000 }
    return projectChecks().run({ line, why: 'asked' }, at, given.ending ?? never)
  }

  it('reports how the check ended, and writes its output to a file that only the user can read', async () => {
    const result = await run('echo out; echo err >&2; exit 3')
    expect(result).toEqual({
      ok: false,
      how: expect.stringMatching(/^echo out; .*: exit code 3 after \d+(\.\d)? m?s$/),
      tail: 'out\nerr',
      took: expect.any(Number),
      tests: null,
    })
    expect(fs.readFileSync(log(), 'utf8')).toBe('out\nerr\n')
    expect(fs.statSync(log()).mode & 0o777).toBe(0o600)
    expect(fs.statSync(path.dirname(log())).mode & 0o777).toBe(0o700)
    expect(await run('true')).toMatchObject({ ok: true, tail: '' })
  })

  it('counts the passed tests in the whole output, and not only in its end', async () => {
    const result = await run('echo "12 passed"; seq 1 500; echo "test result: ok. 0 passed; 0 failed"')
    expect(result).toMatchObject({ ok: true, tests: 12 })
    expect(result.tail).not.toContain('12 passed')
  })

  it('gives the check an empty stdin, CI=true and no terminal', async () => {
    const { tail } = await run('cat; echo "$CI $TMUX"; tty <&2; pwd')
    expect(tail).toBe(`true \nnot a tty\n${project}`)
  })

  it.each([
    ['npm', { 'package.json': scripts('node -e "process.exit(+(process.env.CI !== \'true\'))"') }, true],
    ['npm', { 'package.json': scripts('node -e "process.exit(1)"') }, false],
    ['make', { Makefile: 'test:\n\ttrue\n' }, true],
    ['make', { Makefile: 'test:\n\tfalse\n' }, false],
  ])('uses the test command of %s', async (_, files, ok) => {
    write(files)
    const checks = projectChecks()
    const check = checks.detect(project)
    expect(check).not.toBeNull()
    const at = { cwd: project, env, log: log(), limit: 60_000 }
    expect(check && (await checks.run(check, at, never))).toMatchObject({ ok })
  })

  it('uses the folder where the check was found, even through a link', async () => {
    write({ Makefile: 'test:\n\tpwd\n', 'deep/file': '' })
    fs.symlinkSync(path.join(project, 'deep'), path.join(root, 'link'))
    const check = projectChecks().detect(path.join(root, 'link'))
    expect(check?.line).toBe('cd .. && make test')
    expect((await run(check?.line ?? '', { cwd: path.join(root, 'link') })).tail).toContain(project)
  })

  it('ends every process that the check left behind, even one in its own process session', async () => {
    const away = `setsid sh -c 'sleep 1000; : ${root}' >/dev/null 2>&1 &`
    expect(await run(`${away} sleep 1000 & echo ${root}; exit 0`)).toMatchObject({ ok: true })
    expect(processesOf(root)).toEqual([])
  })

  it('ends at its time limit or when somebody cancels it, even if the check ignores signals', async () => {
    const deaf = `trap '' TERM; : ${root}; while :; do sleep 0.1; done`
    expect(await run(deaf, { limit: 100 })).toMatchObject({
      ok: false,
      isUnknown: true,
      how: expect.stringMatching(/: stopped at its time limit after \d/),
    })
    const calling = new AbortController()
    const called = run(`echo up; exec sleep 1000 # ${root}`, { ending: calling.signal })
    await waitUntil('it is up', () => fs.existsSync(log()) && fs.readFileSync(log(), 'utf8') === 'up\n')
    calling.abort()
    expect(await called).toMatchObject({ ok: false, isUnknown: true, how: expect.stringContaining(': cancelled') })
    expect(await run('touch it', { ending: calling.signal })).toMatchObject({ ok: false, isUnknown: true, tail: '' })
    expect(fs.existsSync(path.join(project, 'it'))).toBe(false)
    expect(processesOf(root)).toEqual([])
  })

  it('has an unknown result if the check could not run', async () => {
    expect(await run('no-such-program --test')).toMatchObject({ ok: false, isUnknown: true })
    expect(await run('echo pytest; exit 5')).toMatchObject({ ok: false, isUnknown: true })
    expect((await run('exit 5')).isUnknown).toBeUndefined()
    expect((await run('kill -9 $$')).how).toContain('killed by SIGKILL')
    await expect(run('true', { cwd: path.join(root, 'gone') })).rejects.toThrow('running true')
  })

  it('returns the end of the output, without colours and secrets', async () => {
    const many = 'for i in $(seq 100); do echo line $i; done'
    const { tail } = await run(`${many}; printf '\\033[31mred\\033[0m\\a 10%%\\r20%%\\n'; echo "key $API_TOKEN"`)
    const lines = tail.split('\n')
    expect(lines).toHaveLength(40)
    expect(lines[0]).toBe('line 63')
    expect(lines.slice(-2)).toEqual(['20%', `key ${'*'.repeat(env.API_TOKEN.length)}`])
    expect((await run('head -c 100000 /dev/zero | tr "\\0" x')).tail).toBe('x'.repeat(4096))
    const wide = await run('for i in $(seq 40); do head -c 300 /dev/zero | tr "\\0" y; echo; done')
    expect(wide.tail.split('\n').map(({ length }) => length)).toEqual(Array(13).fill(300))
  })
})
