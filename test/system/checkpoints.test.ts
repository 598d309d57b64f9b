import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CheckpointView, RestoredView } from '../../src/api/contract/responses.ts'
import { SEED, seededRandom } from '../../testkit/system/seeded-random.ts'
import { run } from '../../src/os/run.ts'
import { forCases } from '../../testkit/vitest/for-cases.ts'
import { expectRefusal } from './expect-refusal.ts'
import { waitForCheckpoints } from './git-project.ts'
import { TestHome, kill, processesOf, waitUntil } from './test-home.ts'

let testHome: TestHome
beforeEach(async () => {
  testHome = new TestHome()
  await git('init', '-q', '-b', 'main', '.')
  fs.writeFileSync(testHome.path('README'), 'a project\n')
  await git('add', '.')
  await git('-c', 'user.name=n', '-c', 'user.email=e', 'commit', '-qm', 'first')
})
afterEach(() => testHome.close())

async function git(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run('git', args, { cwd: testHome.project, env: testHome.env })
  expect({ code, stderr: code === 0 ? '' : stderr }, `git ${args.join(' ')}`).toEqual({ code: 0, stderr: '' })
  return stdout.trim()
}

function checkpoints(name: string): Promise<CheckpointView[]> {
  return testHome.json<CheckpointView[]>('checkpoints', name)
}

/** Waits until all checkpoints of an ended session are saved. */
function saved(name: string): Promise<unknown> {
  return waitUntil('all is saved', async () => ((await testHome.status(name)).isSaving ? undefined : true))
}

const REFUSED = {
  'needs-yes': { exit: 2, code: 'needs-yes', says: 'to checkpoint 1', hint: 'add --yes' },
  'session-alive': { exit: 6, code: 'session-alive', says: 'is running in', hint: 'oneshot hold' },
  'no-checkpoint': { exit: 3, code: 'no-checkpoint', says: 'has no checkpoint 9', hint: 'oneshot checkpoints' },
} as const

const lines = (count: number): string => Array.from({ length: count }, (_, i) => `step ${i + 1}\n`).join('')

describe('checkpoints of a session:', () => {
  it('oneshot saves a checkpoint at the start and at the end, and leaves the repository alone', async () => {
    fs.writeFileSync(testHome.path('draft'), 'mine\n')
    const before = await git('status', '--porcelain')
    const index = fs.readFileSync(testHome.path('.git/index'))
    await testHome.run('--agent', 'demo', '--name', 'poem', 'steps=3 delay=20ms write=notes.txt')
    await testHome.ended('poem')
    await saved('poem')
    const all = await checkpoints('poem')
    expect(all.map(({ number, trigger, files }) => ({ number, trigger, files }))).toEqual([
      { number: 1, trigger: 'start', files: 1 },
      { number: 2, trigger: 'end', files: 1 },
    ])
    expect(fs.readFileSync(testHome.path('.git/index'))).toEqual(index)
    expect(await git('status', '--porcelain')).toBe(`${before}\n?? notes.txt`)
    expect(await git('stash', 'list')).toBe('')
    expect(await git('reflog')).toContain('commit (initial): first')
    const { checkpoint } = await testHome.status('poem')
    expect(checkpoint).toMatchObject({ number: 2, trigger: 'end' })
    expect(await testHome.ok('diff', 'poem', '--stat')).toContain('notes.txt | 3 +++')
    expect(await testHome.json('diff', 'poem')).toMatchObject({ files: 1, added: 3, removed: 0 })
    expect(await testHome.ok('events', 'poem')).toContain('checkpoint 2 (end): 1 file, +3 −0')
  })

  it('oneshot checkpoint saves changed files at any time, and writes nothing without changes', async () => {
    await testHome.run('--name', 'idle', '--headless', '--', 'sleep', '1000')
    fs.writeFileSync(testHome.path('a'), 'a\n')
    const made = await testHome.json<{ isNew: boolean; checkpoint: CheckpointView }>('checkpoint', 'idle')
    expect(made).toMatchObject({ isNew: true, checkpoint: { trigger: 'asked', files: 1 } })
    const again = await testHome.json<{ isNew: boolean; checkpoint: CheckpointView }>('checkpoint', 'idle')
    expect(again).toEqual({ isNew: false, checkpoint: made.checkpoint })
    expect(await testHome.ok('checkpoint', 'idle')).toBe(String(made.checkpoint.number))
  })

  it('restore writes the files onto a branch, into a worktree, and into the project', async () => {
    await testHome.run('--agent', 'demo', '--name', 'poem', 'steps=3 delay=20ms write=notes.txt')
    await testHome.ended('poem')
    await saved('poem')
    const onto = await testHome.json<RestoredView>('restore', 'poem@2')
    expect(onto).toMatchObject({ branch: 'oneshot/demo-poem-2', worktree: null, before: null, missing: [] })
    expect(await git('show', 'oneshot/demo-poem-2:notes.txt')).toBe(lines(3).trim())
    expect(await git('log', '--format=%s', 'oneshot/demo-poem-2')).toBe('oneshot: checkpoint 2 (end)\nfirst')
    const beside = path.join(testHome.root, 'beside me')
    await testHome.ok('restore', 'poem@1', '--worktree', beside, '--branch', 'before')
    expect(fs.readdirSync(beside).sort()).toEqual(['.git', 'README'])
    fs.writeFileSync(testHome.path('later'), 'later\n')
    await expectRefusal(testHome, ['restore', 'poem@1', '--here'], REFUSED['needs-yes'])
    const here = await testHome.json<RestoredView>('restore', 'poem@1', '--here', '--yes')
    expect(here).toMatchObject({ branch: null, before: { number: 3, trigger: 'restore' } })
    expect(fs.readdirSync(testHome.project).filter(name => !name.startsWith('.'))).toEqual(['README'])
    await testHome.ok('restore', 'poem@3', '--here', '--yes')
    expect(fs.readFileSync(testHome.path('notes.txt'), 'utf8')).toBe(lines(3))
    expect(fs.readFileSync(testHome.path('later'), 'utf8')).toBe('later\n')
    expect(await git('branch', '--show-current')).toBe('main')
  })

  it('restore --here is refused while a session works in the folder', { tags: ['extended'] }, async () => {
    await testHome.run('--name', 'idle', '--headless', '--', 'sleep', '1000')
    await expectRefusal(testHome, ['restore', 'idle@1', '--here', '--yes'], REFUSED['session-alive'])
    await expectRefusal(testHome, ['restore', 'idle@9'], REFUSED['no-checkpoint'])
    fs.mkdirSync(testHome.path('sub'))
    await testHome.run('--agent', 'demo', '--name', 'below', '--cwd', 'sub', 'steps=1 delay=1ms')
    await testHome.ended('below')
    await expectRefusal(testHome, ['restore', 'below@1', '--here', '--yes'], REFUSED['session-alive'])
    await expectRefusal(testHome, ['diff', 'idle', '1', '9'], REFUSED['no-checkpoint'])
  })

  it('--checkpoints branch commits to the branch as well, and --checkpoints off saves nothing', {
    tags: ['extended'],
  }, async () => {
    await testHome.ok(
      'run',
      '--checkpoints',
      'branch',
      '--agent',
      'demo',
      '--name',
      'seen',
      'steps=2 delay=20ms write=seen.txt',
    )
    await testHome.ended('demo-seen')
    await saved('demo-seen')
    expect(await git('log', '-1', '--format=%s')).toMatch(/^WIP: checkpoint \d{4}$/)
    expect(await git('status', '--porcelain')).toBe('')
    const head = await git('rev-parse', 'HEAD')
    fs.writeFileSync(testHome.path('seen.txt'), 'my own\n')
    await testHome.ok('diff', 'demo-seen', 'last', 'now')
    await testHome.ok('checkpoint', 'demo-seen')
    expect(await git('rev-parse', 'HEAD'), 'what its user does then is theirs').toBe(head)
    await git('checkout', '-q', 'seen.txt')
    await testHome.ok(
      'run',
      '--checkpoints',
      'off',
      '--agent',
      'demo',
      '--name',
      'unseen',
      'steps=2 delay=20ms write=unseen.txt',
    )
    await testHome.ended('demo-unseen')
    expect(await checkpoints('demo-unseen')).toEqual([])
  })

  it('clean keeps the checkpoints in git, and clean --checkpoints removes them', async () => {
    for (const name of ['one', 'two']) {
      await testHome.run('--agent', 'demo', '--name', name, 'steps=1 delay=1ms')
      await testHome.ended(name)
    }
    await testHome.ok('clean', 'one')
    await testHome.ok('clean', 'two', '--checkpoints')
    expect(await git('for-each-ref', '--format=%(refname)', 'refs/oneshot')).toMatch(/^refs\/oneshot\/demo-one\/\w+$/)
  })
})

const roll = seededRandom(SEED, 'checkpoints')
const MOMENTS = Array.from({ length: 5 }, () => ({
  step: 1 + Math.floor(roll() * 36),
  first: roll() < 0.5 ? 'its agent first' : 'all at once',
}))

describe(`oneshot resume after a stop or kill (ONESHOT_SEED=${SEED})`, () => {
  forCases(
    MOMENTS,
    1,
    'completes the same files after step $step and a kill of all processes ($first)',
    async ({ step, first }) => {
      const prompt = 'steps=60 delay=60ms write=notes.txt'
      const session = await testHome.run('--agent', 'demo', '--name', 'long', prompt)
      const { pid } = session
      const written = (): number => fs.readFileSync(testHome.path('notes.txt'), 'utf8').split('\n').length - 1
      await waitUntil(`step ${step} is done`, () =>
        fs.existsSync(testHome.path('notes.txt')) && written() >= step ? true : undefined,
      )
      if (pid !== null && first === 'its agent first') kill(pid)
      // One sweep may miss a process that another one has just started.
      await waitUntil('nothing lives', () => {
        const left = processesOf(testHome.root)
        for (const row of left) kill(row.pid)
        return left.length === 0 ? true : undefined
      })
      await testHome.ok('resume', 'long')
      const end = await testHome.ended('long')
      expect(end).toMatchObject({ outcome: 'done', id: session.id, thread: session.thread ?? end.thread })
      expect(fs.readFileSync(testHome.path('notes.txt'), 'utf8')).toBe(lines(60))
      await saved('long')
      const last = (await checkpoints('long')).at(-1) as CheckpointView
      expect(await git('show', `${last.commit}:notes.txt`)).toBe(lines(60).trim())
      expect((await run('git', ['fsck', '--no-dangling'], { cwd: testHome.project })).code).toBe(0)
    },
  )

  it('tells what it found before it continues, and with --dry-run only tells', async () => {
    await testHome.run('--agent', 'demo', '--name', 'half', 'steps=500 delay=50ms write=notes.txt')
    await waitUntil('it writes', () => (fs.existsSync(testHome.path('notes.txt')) ? true : undefined))
    await testHome.ok('stop', 'half')
    await saved('half')
    const outlook = await testHome.json<{ found: string[]; next: string }>('resume', 'half', '--dry-run')
    expect(outlook.found.join('\n')).toMatch(/its conversation [\w-]+\ncheckpoint \d+ \(stop\), made .* ago/)
    expect(outlook.next).toBe('attempt 2 continues that conversation')
    expect(await testHome.status('half')).toMatchObject({ phase: 'ended', attempt: 1 })
    expect(await testHome.ok('resume', 'half', '--dry-run')).toContain('next   attempt 2 continues that conversation')
    await testHome.ok('daemon', 'stop')
    const alone = await testHome.ok('resume', 'half', '--dry-run')
    expect(alone).toMatch(/found +no supervisor is running\n +its conversation [\w-]+\n +checkpoint \d+ \(stop\)/)
    expect(alone).toContain('next   a supervisor is started; attempt 2 continues that conversation')
    const { stderr } = await testHome.oneshot('resume', 'half')
    expect(stderr).toContain('next   a supervisor is started; attempt 2 continues that conversation')
  })
})

describe('on a new machine,', () => {
  it('resume --from refuses a session that was done, although it changed no file', { tags: ['extended'] }, async () => {
    const remote = path.join(testHome.root, 'remote.git')
    await git('init', '-q', '--bare', '-b', 'main', remote)
    await git('push', '-q', remote, 'main')
    await testHome.ok('run', '--push', remote, '--agent', 'demo', '--name', 'far', 'steps=1')
    await testHome.ended('demo-far')
    await waitUntil('its end is pushed', async () =>
      (await git('--git-dir', remote, 'log', '--all', '--format=%s')).includes('(end)') ? true : undefined,
    )
    await testHome.ok('daemon', 'stop')
    fs.rmSync(testHome.home.root, { recursive: true })
    fs.rmSync(testHome.project, { recursive: true })
    await run('git', ['clone', '-q', remote, testHome.project], { cwd: testHome.root, env: testHome.env })
    const { code, stderr } = await testHome.oneshot('resume', 'far', '--from', 'origin', '--yes')
    expect([code, stderr]).toEqual([expect.any(Number), expect.stringContaining('demo-far was done')])
    expect(await testHome.list()).toEqual([])
  })

  it('resume --from continues a session in a fresh clone from the pushed checkpoint', async () => {
    const remote = path.join(testHome.root, 'remote.git')
    await git('init', '-q', '--bare', '-b', 'main', remote)
    await git('remote', 'add', 'origin', remote)
    await git('push', '-q', 'origin', 'main')
    await testHome.ok(
      'run',
      '--push',
      'origin',
      '--agent',
      'demo',
      '--name',
      'far',
      'steps=500 delay=50ms write=notes.txt',
    )
    await waitUntil('it writes', () => (fs.existsSync(testHome.path('notes.txt')) ? true : undefined))
    await testHome.ok('stop', 'far')
    await waitForCheckpoints(testHome, 'far')
    await waitUntil('it is pushed', async () =>
      (await testHome.ok('events', 'far')).includes('is on origin') &&
      (await git('ls-remote', 'origin', 'refs/oneshot/*')).split('\t')[0] ===
        (await git('for-each-ref', '--format=%(objectname)', 'refs/oneshot'))
        ? true
        : undefined,
    )
    const notes = fs.readFileSync(testHome.path('notes.txt'), 'utf8')
    await testHome.ok('daemon', 'stop')
    fs.rmSync(testHome.home.root, { recursive: true })
    fs.rmSync(testHome.project, { recursive: true })
    await run('git', ['clone', '-q', remote, testHome.project], { cwd: testHome.root, env: testHome.env })

    const answer = await testHome.ok('resume', 'far', '--from', 'origin', '--dry-run')
    expect(answer).toMatch(/found +checkpoint \d+ \(stop\) of .*, when it was stopped: /)
    expect(answer).toContain('a new conversation begins, with a summary of the work')
    expect(fs.existsSync(testHome.path('notes.txt'))).toBe(false)
    expect(await testHome.ok('resume', 'far', '--from', 'origin', '--yes')).toBe('demo-far')
    await waitUntil('it has read what was done', async () =>
      (await testHome.ok('log', 'far')).includes('You take over work') ? true : undefined,
    )
    expect(fs.readFileSync(testHome.path('notes.txt'), 'utf8').startsWith(notes)).toBe(true)
    const log = await testHome.ok('log', 'far')
    expect(log).toContain('You take over work from another conversation')
    expect(await testHome.list()).toHaveLength(1)
  })
})
