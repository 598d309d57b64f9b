import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { gitWorktrees } from '../../src/world/git/worktrees/git-worktrees.ts'
import { openGitFixture, put } from './git-fixture.ts'
import { openWorktreesFixture } from './worktrees-fixture.ts'

test('the evidence lists committed, changed and uncommitted work, and does not change the user’s index', async () => {
  const { repo, shop: worktrees, commit, userState, git } = openWorktreesFixture()
  put(repo, 'old.txt', 'was there before\n')
  const since = await worktrees.snapshot(repo)
  const id = commit(repo, 'b.txt', 'b\nb\n')
  git(repo, 'rm', '--quiet', '--cached', 'old.txt')
  put(repo, 'a.txt', 'a\nmore\n')
  put(repo, 'new/ü\n"x".txt', 'odd')
  put(repo, 'PRD.md', '- [x] one\n')
  put(repo, '.agent/STATUS.md', 'view')
  put(repo, 'node_modules/x.js', 'ignored')
  const before = userState()
  const told = await worktrees.collectEvidence(repo, since, ['PRD.md'])
  expect(told).toMatchObject({
    commits: [{ id, subject: 'b.txt in repo' }],
    commitCount: 1,
    change: { files: 3, added: 4, removed: 0 },
    files: ['a.txt', 'b.txt', 'new/ü?"x".txt'],
    uncommitted: 2,
  })
  expect(userState()).toEqual(before)
  expect(await worktrees.collectEvidence(repo, told.now, [])).toMatchObject({
    commitCount: 0,
    change: { files: 0 },
    uncommitted: 0,
  })
})

test('the evidence of rewritten history counts only commits that the old history lacks', async () => {
  const { repo, shop: worktrees, commit, git } = openWorktreesFixture()
  commit(repo, 'b.txt', 'b\n')
  const since = await worktrees.snapshot(repo)
  git(repo, 'commit', '--quiet', '--amend', '--message', 'amended')
  const amended = await worktrees.collectEvidence(repo, since, [])
  expect(amended).toMatchObject({ commitCount: 1, commits: [{ subject: 'amended' }], change: { files: 0 } })
  git(repo, 'reset', '--quiet', '--hard', 'HEAD~1')
  expect(await worktrees.collectEvidence(repo, since, [])).toMatchObject({
    commitCount: 0,
    change: { files: 1, removed: 1 },
  })
})

test('the evidence excludes a commit that the user makes in the same second as the agent', async () => {
  const { repo, shop: worktrees, commit, env, git } = openWorktreesFixture()
  const since = await worktrees.snapshot(repo)
  const trace = path.join(repo, '.git/trace')
  const began = Date.now()
  /** Files are dated by ticks of the kernel's clock: neither commit is in the same tick as the other. */
  const nextTick = (): void => {
    for (const now = Date.now(); Date.now() < now + 40; ) git(repo, 'rev-parse', 'HEAD')
  }
  for (let n = 0; n < 3; n++) {
    nextTick()
    commit(repo, `user-${n}.txt`, 'user\n')
    nextTick()
    put(repo, `agent-${n}.txt`, 'agent\n')
    const traced = { env: { ...env, GIT_TRACE2_EVENT: trace } }
    execFileSync('git', ['-C', repo, 'add', '--all'], traced)
    execFileSync('git', ['-C', repo, 'commit', '--quiet', '--message', `agent ${n}`], traced)
  }
  const told = await worktrees.collectEvidence(repo, since, [], { worker: { trace, since: began } })
  expect(told).toMatchObject({
    commits: ['agent 2', 'agent 1', 'agent 0'].map(subject => ({ subject })),
    files: ['agent-0.txt', 'agent-1.txt', 'agent-2.txt'],
    foreign: 3,
  })
})

test.each([
  ['with labels', '<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> side\n', true],
  ['without labels', '<<<<<<<\none\n=======\ntwo\n>>>>>>>\n', true],
  ['with the text of both before', '<<<<<<< a\r\none\r\n||||||| b\r\n0\r\n=======\r\ntwo\r\n>>>>>>> c\r\n', true],
  ['without the first marker', '||||||| base\n0\n=======\ntwo\n>>>>>>> side\n', true],
  ['without the line between the sides', '<<<<<<< HEAD\none\ntwo\n>>>>>>> side\n', true],
  ['with the first marker alone', 'one\n<<<<<<< HEAD\ntwo\n', true],
  ['a heading, which is none', 'Title\n=======\n', false],
  ['a drawing, which is none', '<<<<<<<<<<\n=======\n>>>>>>>>>>\n', false],
  ['a ruler, which is none', 'one\n>>>>>>>\ntwo\n', false],
])('the evidence recognizes committed conflict markers by their form: %s', async (_, text, isMarked) => {
  const { repo, shop: worktrees, commit } = openWorktreesFixture()
  const since = await worktrees.snapshot(repo)
  commit(repo, 'b.txt', text)
  const { conflicts, underWay } = await worktrees.collectEvidence(repo, since, [])
  expect({ conflicts, underWay }).toEqual({ conflicts: isMarked ? ['b.txt'] : [], underWay: null })
})

test('the evidence ignores the conflict markers that a file had before', async () => {
  const { repo, shop: worktrees, commit } = openWorktreesFixture()
  const text = '# How to merge\n<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> side\n'
  commit(repo, 'merging.md', text)
  const since = await worktrees.snapshot(repo)
  commit(repo, 'merging.md', `${text}Remove the markers.\n`)
  expect(await worktrees.collectEvidence(repo, since, [])).toMatchObject({ files: ['merging.md'], conflicts: [] })
})

test('the evidence reports a conflict of a stash and a patch that does not apply as unfinished', async () => {
  const { repo, shop: worktrees, commit, git, head } = openWorktreesFixture()
  const base = head(repo)
  put(repo, 'a.txt', 'stashed\n')
  git(repo, 'stash', '--quiet')
  commit(repo, 'a.txt', 'committed\n')
  const since = await worktrees.snapshot(repo)
  expect(() => git(repo, 'stash', 'pop', '--quiet')).toThrow()
  expect(await worktrees.collectEvidence(repo, since, [])).toMatchObject({
    conflicts: ['a.txt'],
    underWay: 'a merge without its end',
  })
  git(repo, 'reset', '--quiet', '--hard', base)
  git(repo, 'format-patch', '--quiet', '--output=../a.patch', '-1', since.head ?? '')
  commit(repo, 'a.txt', 'other\n')
  expect(() => git(repo, 'am', '--quiet', '../a.patch')).toThrow()
  expect(await worktrees.collectEvidence(repo, since, [])).toMatchObject({ underWay: 'a git am' })
})

test('the evidence counts all commits and names the newest 12', async () => {
  const { repo, shop: worktrees, git } = openWorktreesFixture()
  const since = await worktrees.snapshot(repo)
  for (let n = 0; n < 15; n++) git(repo, 'commit', '--quiet', '--allow-empty', '--message', `${n}`)
  const { commits, commitCount } = await worktrees.collectEvidence(repo, since, [])
  expect([commits.length, commits[0]?.subject, commitCount]).toEqual([12, '14', 15])
  expect((await worktrees.log(repo, 2)).map(({ subject }) => subject)).toEqual(['14', '13'])
})

test('snapshots and evidence work in a repository without a commit, in a worktree and in a subfolder', async () => {
  const fixture = openGitFixture()
  const repo = fixture.repository('repo')
  const worktrees = gitWorktrees({ env: fixture.env })
  put(repo, 'deep/er/a.txt', 'a\n')
  expect(await worktrees.inspect(repo)).toEqual({
    top: repo,
    gitDir: path.join(repo, '.git'),
    branch: 'main',
    head: null,
    isClean: false,
  })
  expect(await worktrees.log(repo, 5)).toEqual([])
  const since = await worktrees.snapshot(repo)
  expect(since.head).toBeNull()
  put(repo, 'deep/er/list.md', 'x\n')
  put(repo, 'deep/er/b.txt', 'b\n')
  put(repo, 'list.md', 'x\n')
  const below = path.join(repo, 'deep/er')
  const told = await worktrees.collectEvidence(below, since, ['list.md'])
  expect(told).toMatchObject({ files: ['b.txt', '../../list.md'], uncommitted: 2, commitCount: 0 })
  fixture.git(repo, 'add', '.')
  fixture.git(repo, 'commit', '--quiet', '--message', 'first')
  expect(await worktrees.collectEvidence(below, since, ['list.md'])).toMatchObject({ commitCount: 1, uncommitted: 0 })
  const tree = path.join(fixture.root, 'tree')
  fixture.git(repo, 'worktree', 'add', '--quiet', tree)
  const there = await worktrees.snapshot(tree)
  put(tree, 'c.txt', 'c\n')
  expect(await worktrees.collectEvidence(tree, there, [])).toMatchObject({ files: ['c.txt'] })
  expect(await worktrees.collectEvidence(repo, there, [])).toMatchObject({ files: [] })
})

test('the evidence survives a garbage collection, and compares with the HEAD of that time when the snapshot is gone', async () => {
  const { repo, shop: worktrees, git } = openWorktreesFixture()
  put(repo, 'x.txt', 'x\n')
  const first = await worktrees.snapshot(repo)
  git(repo, 'gc', '--quiet', '--prune=now')
  put(repo, 'x.txt', 'y\n')
  expect(await worktrees.collectEvidence(repo, first, [])).toMatchObject({
    files: ['x.txt'],
    change: { added: 1, removed: 1 },
  })
  git(repo, 'gc', '--quiet', '--prune=now')
  expect(await worktrees.collectEvidence(repo, first, [])).toMatchObject({
    files: ['x.txt'],
    change: { added: 1, removed: 0 },
  })
})

test('initRepository commits all files of a folder, finishes an interrupted call, and keeps an existing repository', async () => {
  const fixture = openGitFixture()
  const worktrees = gitWorktrees({ env: fixture.env })
  const folder = path.join(fixture.root, 'idea')
  put(folder, 'a.txt', 'a')
  put(folder, '.agent/STATUS.md', 'view')
  expect(await worktrees.inspect(folder)).toBeNull()
  fs.mkdirSync(path.join(folder, '.git/oneshot'), { recursive: true })
  fs.writeFileSync(path.join(folder, '.git/oneshot/founding'), '{"isBegun":true}')
  await Promise.all([worktrees.initRepository(folder), gitWorktrees({ env: fixture.env }).initRepository(folder)])
  expect(await worktrees.inspect(folder)).toMatchObject({ top: folder, branch: 'main', isClean: true })
  expect(fixture.git(folder, 'ls-tree', '-r', '--name-only', 'HEAD')).toBe('a.txt\n')
  expect(fixture.git(folder, 'log', '--format=%an')).toBe('oneshot\n')
  const before = fixture.git(folder, 'rev-parse', 'HEAD')
  await worktrees.initRepository(folder)
  expect(fixture.git(folder, 'rev-parse', 'HEAD')).toBe(before)
  const empty = path.join(fixture.root, 'empty')
  fs.mkdirSync(empty)
  await worktrees.initRepository(empty)
  expect((await worktrees.inspect(empty))?.head).toMatch(/^[0-9a-f]{40}$/)
})
