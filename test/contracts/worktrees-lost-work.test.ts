import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { newTask } from '../../src/core/loop/loop-updates.ts'
import type { WorkEvidence, Snapshot } from '../../src/core/loop/work-evidence.ts'
import { createLoop, type Loop, type LoopTask } from '../../src/core/loop/loop-state.ts'
import type { LoopSpec } from '../../src/core/loop/spec.ts'
import { Audit } from '../../src/loop/audit/detect-lost-work.ts'
import { testSessionId } from '../../testkit/core/ids.ts'
import { put } from './git-fixture.ts'
import { openWorktreesFixture } from './worktrees-fixture.ts'

type Bench = ReturnType<typeof openWorktreesFixture>

/** A loop with one finished task: `work` is what its agent did. */
async function finished(fixture: Bench, work: () => void): Promise<{ loop: Loop; audit: Audit; task: LoopTask }> {
  const { repo, shop: worktrees } = fixture
  const since = await worktrees.snapshot(repo)
  work()
  const evidence = await worktrees.collectEvidence(repo, since, [])
  const task = doneTask(repo, since, evidence)
  const loop = { ...createLoop({} as LoopSpec, 0), tasks: [task] }
  const audit = new Audit({ worktrees, cwd: repo, id: testSessionId('loop'), inner: '', apart: [] })
  return { loop, audit, task }
}

function doneTask(cwd: string, since: Snapshot, evidence: WorkEvidence): LoopTask {
  const item = { key: 'one', label: '1', title: 'one', isDone: true, after: [] } as unknown as LoopTask['item']
  const stand = { name: 'done', at: 1, how: 'seen' } as const
  return { ...newTask(item, 1), state: stand, checkout: { cwd, branch: null, since }, evidence }
}

/** Audits the work, runs the command that the audit names, and expects no loss afterwards. Returns the command. */
async function cured(fixture: Bench, { loop, audit }: { loop: Loop; audit: Audit }, from = '.'): Promise<string> {
  const { repo, shop: worktrees } = fixture
  const { losses } = await audit.auditAll(loop, (await worktrees.snapshot(repo)).tree)
  const cure = losses[0]?.cure ?? 'false'
  const env = { ...fixture.env, GIT_EDITOR: 'echo message >' }
  execFileSync('sh', ['-c', cure], { cwd: path.join(repo, from), env, stdio: 'pipe' })
  expect((await audit.auditAll(loop, (await worktrees.snapshot(repo)).tree)).losses).toEqual([])
  return cure
}

const ODD: Readonly<Record<string, readonly string[]>> = {
  'names with special characters': ['__tests__/x.txt', 'it\'s "quoted".txt', '-dash', ':colon', 'gl*b $(x)`y`'],
  'names with control characters': ['line\nend', '\u0001', '__tests__/y.txt'],
  'many files': Array.from({ length: 300 }, (_, n) => `many/${n}`),
}

test.each(Object.entries(ODD))(
  'the command that the audit names brings lost files back from any folder: %s',
  async (_, files) => {
    const fixture = openWorktreesFixture()
    const { repo, shop: worktrees } = fixture
    put(repo, 'sub/other', 'stays\n')
    const done = await finished(fixture, () => files.forEach(file => put(repo, file, `${file}\n`)))
    for (const from of ['.', 'sub']) {
      for (const file of files) fs.rmSync(path.join(repo, file))
      const audit = new Audit({
        worktrees,
        cwd: repo,
        id: testSessionId('loop'),
        inner: from === '.' ? '' : from,
        apart: [],
      })
      const cure = await cured(fixture, { ...done, audit }, from)
      expect(cure.length).toBeLessThan(200)
      for (const file of files) expect(fs.readFileSync(path.join(repo, file), 'utf8')).toBe(`${file}\n`)
    }
    expect(fs.readFileSync(path.join(repo, 'sub/other'), 'utf8')).toBe('stays\n')
  },
)

test('the audit reports a file as lost that somebody removed, emptied or replaced by a link or a folder', async () => {
  const fixture = openWorktreesFixture()
  const { repo } = fixture
  const file = path.join(repo, 'made.txt')
  const done = await finished(fixture, () => put(repo, 'made.txt', 'one\ntwo\n'))
  const ways = [
    () => fs.writeFileSync(file, ''),
    () => (fs.rmSync(file), fs.symlinkSync('/etc/passwd', file)),
    () => (fs.rmSync(file), fs.symlinkSync('a.txt', file)),
    () => (fs.rmSync(file), put(repo, 'made.txt/inside', 'x')),
    () => fs.rmSync(file),
  ]
  for (const way of ways) {
    way()
    await cured(fixture, done)
    expect(fs.lstatSync(file).isFile() && fs.readFileSync(file, 'utf8')).toBe('one\ntwo\n')
  }
})

test('the audit says that git ignores a file of finished work, and names the command after which git tracks it', async () => {
  const fixture = openWorktreesFixture()
  const { repo, git, shop: worktrees, commit } = fixture
  const done = await finished(fixture, () => commit(repo, 'made.txt', 'one\n'))
  const what = async (): Promise<string | undefined> =>
    (await done.audit.auditAll(done.loop, (await worktrees.snapshot(repo)).tree)).losses[0]?.what
  const untrack = (): void => {
    put(repo, '.git/info/exclude', 'made.txt\n')
    git(repo, 'rm', '--quiet', '--cached', 'made.txt')
    git(repo, 'commit', '--quiet', '--message', 'untrack')
  }
  untrack()
  expect(await what()).toBe('git ignores made.txt now, and does not track it any more')
  expect(await cured(fixture, done)).toBe('git add --force -- made.txt && git commit')
  untrack()
  fs.rmSync(path.join(repo, 'made.txt'))
  expect(await cured(fixture, done)).toMatch(
    /^git restore --staged --worktree --source=[0-9a-f]{10} -- made\.txt && git commit$/,
  )
  expect(fs.readFileSync(path.join(repo, 'made.txt'), 'utf8')).toBe('one\n')
})

test('the audit names a cherry-pick only if it brings all of the work back', async () => {
  const fixture = openWorktreesFixture()
  const { repo, git, commit } = fixture
  const base = git(repo, 'rev-parse', 'HEAD').trim()
  const done = await finished(fixture, () => void commit(repo, 'made.txt', 'one\n'))
  git(repo, 'reset', '--quiet', '--hard', base)
  expect(await cured(fixture, done)).toMatch(/^git cherry-pick [0-9a-f]{10}$/)
  // Another one has made the file since: to pick the commit would be a conflict.
  git(repo, 'reset', '--quiet', '--hard', base)
  const edited = await finished(fixture, () => {
    for (let n = 0; n < 14; n++) commit(repo, `made-${n}.txt`, 'one\n')
  })
  git(repo, 'reset', '--quiet', '--hard', base)
  expect(await cured(fixture, edited)).toMatch(/^git restore --overlay --source=[0-9a-f]{10} -- :\/$/)
  git(repo, 'checkout', '--quiet', '-B', 'side', base)
  commit(repo, 'side.txt', 'side\n')
  git(repo, 'checkout', '--quiet', 'main')
  git(repo, 'reset', '--quiet', '--hard', base)
  const merged = await finished(fixture, () => {
    commit(repo, 'own.txt', 'own\n')
    git(repo, 'merge', '--quiet', '--no-ff', '--no-edit', 'side')
  })
  git(repo, 'reset', '--quiet', '--hard', base)
  expect(await cured(fixture, merged)).toContain('git restore')
})

test('the audit reports the loss of half of the lines of finished work once, with the command that restores the file', async () => {
  const fixture = openWorktreesFixture()
  const { repo, shop: worktrees } = fixture
  const lines = Array.from({ length: 40 }, (_, n) => `${n}\n`)
  const { loop, audit, task } = await finished(fixture, () => put(repo, 'made.txt', lines.join('')))
  const edit = async (text: string): Promise<readonly string[]> => {
    const since = await worktrees.snapshot(repo)
    put(repo, 'made.txt', text)
    const seen = await worktrees.collectEvidence(repo, since, [])
    return (await audit.auditIteration(loop, { task, since, seen, at: undefined })).shortenedFiles
  }
  expect(await edit(lines.slice(0, 30).join(''))).toEqual([])
  expect(await edit(lines.slice(0, 15).join(''))).toEqual([
    expect.stringMatching(
      /^25 of the 40 lines that task 1 added to made\.txt are gone; `git restore --source=[0-9a-f]{10} -- made\.txt` brings the file back as it was$/,
    ),
  ])
  expect(await edit(lines.slice(0, 10).join(''))).toEqual([])
})

test('the audit names commits of finished work that somebody took off the branch, although the files are there', async () => {
  const fixture = openWorktreesFixture()
  const { repo, shop: worktrees, git, commit, head } = fixture
  const base = head(repo)
  const { loop, audit, task } = await finished(fixture, () => commit(repo, 'made.txt', 'one\n'))
  const id = head(repo)
  const judged = async (work: () => unknown): Promise<readonly string[]> => {
    const since = await worktrees.snapshot(repo)
    work()
    const seen = await worktrees.collectEvidence(repo, since, [])
    return (await audit.auditIteration(loop, { task, since, seen, at: undefined })).shortenedFiles
  }
  const onlyOwn = (): void => {
    put(repo, 'own.txt', 'own\n')
    git(repo, 'add', 'own.txt')
    git(repo, 'commit', '--quiet', '--message', 'own', '--', 'own.txt')
  }
  expect(await judged(onlyOwn)).toEqual([])
  git(repo, 'reset', '--quiet', '--hard', id)
  const told = await judged(() => {
    git(repo, 'reset', '--quiet', base)
    onlyOwn()
  })
  const cure = 'git add -- made.txt && git commit'
  const what = `commit ${id.slice(0, 10)} of task 1 is no longer on the branch, and made.txt is not committed`
  expect(told).toEqual([`${what}; \`${cure}\` commits it again`])
  expect(await judged(() => git(repo, 'commit', '--quiet', '--allow-empty', '-m', 'x')), 'once').toEqual([])
  git(repo, 'reset', '--quiet', '--hard', id)
  const squashed = await judged(() => {
    git(repo, 'reset', '--quiet', '--soft', base)
    git(repo, 'commit', '--quiet', '--message', 'squashed')
  })
  expect(squashed, 'committed anew').toEqual([])
})

test('diffTrees compares commits and trees alike, one pair or several, and returns null for an object that git has lost', async () => {
  const { repo, shop: worktrees, commit, head } = openWorktreesFixture()
  const one = head(repo)
  const two = commit(repo, 'b.txt', 'b\n')
  const names = [
    [one, two],
    [`${one}^{tree}`, two],
    [head(repo, `${one}^{tree}`), head(repo, `${two}^{tree}`)],
  ] as const
  const paths = (found: readonly (readonly { path: string }[] | null)[]): (string[] | null)[] =>
    found.map(changes => changes?.map(({ path: name }) => name) ?? null)
  for (const pair of names) expect(paths(await worktrees.diffTrees(repo, [pair])), pair.join(' ')).toEqual([['b.txt']])
  for (const pair of names)
    expect(paths(await worktrees.diffTrees(repo, [pair, [two, two]])), pair.join(' ')).toEqual([['b.txt'], []])
  const lost = '1'.repeat(40)
  expect(paths(await worktrees.diffTrees(repo, [[lost, two]]))).toEqual([null])
  expect(
    paths(
      await worktrees.diffTrees(repo, [
        [lost, two],
        [one, two],
      ]),
    ),
  ).toEqual([null, ['b.txt']])
})

test('the audit recognizes restored work, whoever restored it', async () => {
  const fixture = openWorktreesFixture()
  const { repo, shop: worktrees } = fixture
  const { audit, task } = await finished(fixture, () => put(repo, 'made.txt', 'one\n'))
  const { state, checkout, evidence } = task
  if (state.name !== 'done' || evidence === null) throw new Error('it is done')
  const completion = { state, checkout, resolution: null, evidence }
  const isBack = async (): Promise<boolean> => audit.isRestored(completion, [], (await worktrees.snapshot(repo)).tree)
  fs.rmSync(path.join(repo, 'made.txt'))
  expect(await isBack()).toBe(false)
  put(repo, 'made.txt', 'one\nand more\n')
  expect(await isBack()).toBe(true)
})

test('the audit names work that git gc has deleted, and no command that could not restore it', async () => {
  const fixture = openWorktreesFixture()
  const { repo, shop: worktrees, commit, git } = fixture
  const { loop, audit } = await finished(fixture, () => void commit(repo, 'made.txt', 'made\n'))
  expect(await audit.auditAll(loop, (await worktrees.snapshot(repo)).tree)).toMatchObject({ losses: [] })
  const since = await worktrees.snapshot(repo)
  git(repo, 'reset', '--quiet', '--hard', 'HEAD~1')
  for (const ref of git(repo, 'for-each-ref', '--format=%(refname)', 'refs/oneshot-loop').trim().split('\n'))
    git(repo, 'update-ref', '-d', ref)
  git(repo, 'reflog', 'expire', '--expire=now', '--all')
  git(repo, 'gc', '--quiet', '--prune=now')
  const seen = await worktrees.collectEvidence(repo, since, [])
  expect(seen).toMatchObject({ isBaselineLost: true, changed: [], commitCount: 0 })
  const [task] = loop.tasks
  if (task === undefined) throw new Error('there is a task')
  const { losses, evidence } = await audit.auditIteration(loop, { task, since, seen, at: undefined })
  const what = 'made.txt is gone, or has its old content, and git has deleted its content'
  expect(losses).toEqual([{ task: 'one', what, cure: null, kept: [] }])
  expect(evidence.change.files).toBe(0)
})
