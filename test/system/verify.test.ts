import fs from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { VerificationView } from '../../src/api/contract/verification.ts'
import { run } from '../../src/os/run.ts'
import { expectRefusal } from './expect-refusal.ts'
import { TestHome, waitUntil } from './test-home.ts'

let testHome: TestHome
beforeAll(() => {
  testHome = new TestHome({
    GIT_AUTHOR_NAME: 'n',
    GIT_AUTHOR_EMAIL: 'e',
    GIT_COMMITTER_NAME: 'n',
    GIT_COMMITTER_EMAIL: 'e',
  })
})
beforeEach(async () => {
  testHome.beginTest()
  fs.writeFileSync(testHome.path('README'), 'a project\n')
  await git('init', '-q', '-b', 'main', '.')
  await git('add', '.')
  testHome.env['GIT_COMMITTER_DATE'] = '2020-01-01T00:00:00Z'
  await git('commit', '-qm', 'first')
  delete testHome.env['GIT_COMMITTER_DATE']
})
afterEach(() => testHome.endTest())
afterAll(() => testHome.close())

async function git(...args: string[]): Promise<void> {
  const { code, stderr } = await run('git', args, { cwd: testHome.project, env: testHome.env })
  expect({ code, stderr: code === 0 ? '' : stderr }, `git ${args.join(' ')}`).toEqual({ code: 0, stderr: '' })
}

/** Runs a command to its end, and waits until its work is saved. */
async function ended(name: string, script: string, ...options: string[]): Promise<void> {
  await testHome.run('--name', name, '--headless', ...options, '--', 'sh', '-c', script)
  await testHome.ended(name)
  await waitUntil('all is saved', async () => ((await testHome.status(name)).isSaving ? undefined : true))
}

async function verified(exit: number, ...args: string[]): Promise<VerificationView> {
  const { code, stdout } = await testHome.oneshot('verify', '--json', ...args)
  expect({ code, stdout: code === exit ? '' : stdout }).toEqual({ code: exit, stdout: '' })
  return JSON.parse(stdout) as VerificationView
}

const makefile = (recipe: string): void => fs.writeFileSync(testHome.path('Makefile'), `test:\n\t${recipe}\n`)
const COMMIT = 'echo a >a; git add a; git commit -qm "add a"'

/** Returns the fields that the page names, with their types and meanings. */
function documented(): string[][] {
  const page = fs.readFileSync(path.resolve(import.meta.dirname, '../../docs/json.md'), 'utf8')
  const table = page.split('## Verify')[1]?.split('\n## ')[0] ?? ''
  return [...table.matchAll(/^\| `(\w+)` \| ([^|]+) \| (.+) \|$/gm)].map(row => row.slice(1))
}

function expectAsDocumented(proof: VerificationView): void {
  const rows = documented()
  expect(Object.keys(proof).sort()).toEqual(rows.map(([field = '']) => field).sort())
  const wrong = rows.filter(([field = '', type = '']) => {
    const value: unknown = proof[field as keyof VerificationView]
    if (value === null) return !type.endsWith(' or null')
    return type.replace(' or null', '') !== (Array.isArray(value) ? 'array' : typeof value)
  })
  expect(wrong).toEqual([])
  const words = rows.map(([, , meaning]) => meaning).join(' ')
  for (const part of [proof.work, proof.check])
    for (const field of Object.keys(part ?? {})) expect(words).toContain(`\`${field}\``)
}

describe('oneshot verify', () => {
  it('reports work as proven by its commits and by the project’s own check', async () => {
    makefile('grep -q a a')
    await ended('one', `${COMMIT}; echo b >b`)
    const proof = await verified(0, 'one')
    expectAsDocumented(proof)
    expect(proof).toMatchObject({
      session: 'command-one',
      verdict: 'proven',
      sentence: 'proven: 1 commit, 2 files, 1 of them not committed, make test passes',
      work: { commits: [{ subject: 'add a' }], files: 2, added: 2, removed: 0, names: ['a', 'b'], uncommitted: 1 },
      state: 'done',
      exitCode: 0,
      said: null,
      check: { line: 'make test', why: 'Makefile has a test target', ok: true },
    })
    const { stdout, stderr, code } = await testHome.oneshot('verify', 'one')
    expect(code).toBe(0)
    expect(stderr).toBe('checking: make test (Makefile has a test target)\n')
    expect(stdout).toContain('changed      2 files, +2 −0: a, b')
    expect((await testHome.oneshot('verify', 'one', '-q')).stdout).toBe('proven\n')
  })

  it('reports work as refuted if the check fails or the session failed', async () => {
    makefile('echo no such thing; false')
    await ended('one', COMMIT)
    const proof = await verified(1, 'one')
    expectAsDocumented(proof)
    expect(proof.sentence).toBe('refuted: make test fails (1 commit, 1 file)')
    expect(proof.check?.tail).toContain('no such thing')
    expect(fs.readFileSync(proof.check?.log ?? '', 'utf8')).toContain('no such thing')
    expect((await testHome.oneshot('verify', 'one')).stdout).toContain('│ no such thing')
    expect((await verified(0, 'one', '--check', 'test -e a')).check?.line).toBe('test -e a')
    expect((await verified(0, 'one', '--no-check')).check).toBeNull()
    expect((await verified(3, 'one', '--check', 'sleep 1000', '--check-limit', '100ms')).check?.ok).toBeNull()
    await ended('two', `${COMMIT.replaceAll('a', 'c')}; exit 7`)
    expect((await verified(1, 'two', '--no-check')).sentence).toContain('refuted: it failed: exit code 7')
    await expectRefusal(testHome, ['verify', 'one', '--check', 'true', '--no-check'], {
      exit: 2,
      code: 'usage',
      says: 'exclude each other',
      hint: 'give one',
    })
  })

  it('reports work as not proven if the session changed no file, despite its words and later changes of others', {
    tags: ['extended'],
  }, async () => {
    makefile('true')
    await ended('idle', 'echo all is done')
    fs.writeFileSync(testHome.path('later'), 'mine\n')
    const proof = await verified(3, 'idle')
    expect(proof).toMatchObject({ sentence: 'not proven: it changed no file', output: ['all is done'] })
    await testHome.ok('checkpoint', 'idle')
    expect((await verified(3, 'idle')).sentence).toBe('not proven: it changed no file')
  })

  it('shows the words of the agent, and reports a failure that the output mentions', {
    tags: ['extended'],
  }, async () => {
    await testHome.run('--agent', 'demo', '--name', 'poem', 'steps=2 delay=10ms write=notes.txt')
    await testHome.ended('poem')
    const proof = await verified(0, 'poem')
    expectAsDocumented(proof)
    expect(proof.sentence).toBe('changed, not tested: 1 file, not committed, the project has no check')
    expect(proof.said).toMatch(/\w/)
    await ended('liar', `${COMMIT}; echo "error: task 3 was not done"`)
    const liar = await verified(3, 'liar')
    expect(liar.failures).toEqual(['error: task 3 was not done'])
    expect(liar.sentence).toContain('its output reports a failure: error: task 3 was not done')
  })

  it('reports work as not proven while the session runs', async () => {
    await testHome.run('--name', 'busy', '--headless', '--', 'sh', '-c', 'echo a >a; exec sleep 1000')
    await waitUntil('it has begun', () => (fs.existsSync(testHome.path('a')) ? true : undefined))
    const proof = await verified(3, 'busy')
    expect(proof.sentence).toMatch(/^not proven: it is still running \(1 file, not committed, /)
  })

  it('judges by times if there are no checkpoints, and proves nothing without git', {
    tags: ['extended'],
  }, async () => {
    fs.writeFileSync(testHome.path('old'), 'mine\n')
    fs.utimesSync(testHome.path('old'), 0, 0)
    await ended('off', `${COMMIT}; echo b >b`, '--checkpoints', 'off')
    const proof = await verified(0, 'off')
    expect(proof.sentence).toBe(
      'changed, not tested: 1 commit, 2 files, 1 of them not committed, the project has no check',
    )
    expect(proof.remarks).toEqual(['it has no checkpoints: oneshot judges by the times of commits and files'])
    await ended('none', 'echo nothing', '--checkpoints', 'off')
    fs.rmSync(testHome.path('.git'), { recursive: true })
    const blind = await verified(3, 'none')
    expectAsDocumented(blind)
    expect(blind).toMatchObject({
      sentence: expect.stringMatching(/^not proven: oneshot cannot tell what changed: .* is not in a git repository$/),
      work: null,
    })
  })
})

describe('a command that is started with --verify or --verify-git', () => {
  it('is done if git shows work, and fails if git shows none', async () => {
    await ended('works', `${COMMIT}; echo b >b`, '--verify-git')
    expect(await testHome.status('works')).toMatchObject({
      outcome: 'done',
      reason: 'exit code 0, 1 commit, 2 files, 1 of them not committed',
    })
    await ended('idles', 'echo all is done', '--verify-git')
    expect(await testHome.status('idles')).toMatchObject({
      outcome: 'failed',
      reason: 'exit code 0, but it changed no file',
      trouble: 'unproven',
      exitCode: 0,
    })
    expect((await testHome.oneshot('wait', 'idles')).code).toBe(1)
    await ended('complains', 'echo c >c; echo "error: task 2 was not done"', '--verify-git')
    expect((await testHome.status('complains')).reason).toContain('its output reports a failure')
  })

  it('is refused at once outside a git repository', async () => {
    const bare = testHome.path('..', 'bare')
    fs.mkdirSync(bare)
    const args = ['run', '--cwd', bare, '--verify-git', '--headless', '--', 'true']
    const refused = { exit: 3, code: 'no-repository', says: 'is not in a git repository', hint: 'git init' } as const
    await expectRefusal(testHome, args, refused)
  })

  it('is done only if its check passes', { tags: ['extended'] }, async () => {
    await ended('right', 'echo a >a', '--verify', 'grep -q a a')
    expect(await testHome.status('right')).toMatchObject({ outcome: 'done', reason: 'exit code 0, grep -q a a passes' })
    await ended('wrong', 'echo b >a', '--verify', 'grep -q a a')
    expect(await testHome.status('wrong')).toMatchObject({
      outcome: 'failed',
      reason: 'exit code 0, but grep -q a a fails; oneshot verify command-wrong runs it again and shows what it says',
    })
    await ended('quoted', 'true', '--verify', 'echo bad thing; exit 4')
    expect((await testHome.status('quoted')).reason).toContain('exit code 0, but “echo bad thing; exit 4” fails; ')
    expect(await testHome.ok('status', 'quoted')).toContain('\n  │ bad thing\n')
    expect((await testHome.oneshot('follow', 'quoted')).stderr).toContain('  │ bad thing')
    expect(await testHome.oneshot('verify', 'quoted')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('│ bad thing'),
    })
  })

  it('is checked again by the next supervisor after a kill during the check', async () => {
    const line = `test -e ${testHome.path('again')} || { touch ${testHome.path('again')}; exec sleep 1000; }`
    await testHome.run('--name', 'one', '--headless', '--verify', line, '--', 'true')
    await waitUntil('it is being checked', () => (fs.existsSync(testHome.path('again')) ? true : undefined))
    expect(await testHome.status('one')).toMatchObject({ phase: 'stopping', outcome: null })
    process.kill((await testHome.daemon()).pid, 'SIGKILL')
    expect(await testHome.ended('one')).toMatchObject({ outcome: 'done' })
  })
})
