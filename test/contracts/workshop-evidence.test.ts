import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { gitWorkshop } from '../../src/world/git/workshop/git-workshop.ts'
import { openGitBench, put } from './git-bench.ts'
import { openShopBench } from './workshop-bench.ts'

test('what was committed, changed and left uncommitted is told, and the user’s index stays byte for byte', async () => {
  const { repo, shop, commit, userState, git } = openShopBench()
  put(repo, 'old.txt', 'was there before\n')
  const since = await shop.snapshot(repo)
  const id = commit(repo, 'b.txt', 'b\nb\n')
  git(repo, 'rm', '--quiet', '--cached', 'old.txt')
  put(repo, 'a.txt', 'a\nmore\n')
  put(repo, 'new/ü\n"x".txt', 'odd')
  put(repo, 'PRD.md', '- [x] one\n')
  put(repo, '.agent/STATUS.md', 'view')
  put(repo, 'node_modules/x.js', 'ignored')
  const before = userState()
  const told = await shop.evidence(repo, since, ['PRD.md'])
  expect(told).toMatchObject({
    commits: [{ id, subject: 'b.txt in repo' }],
    commitCount: 1,
    change: { files: 3, added: 4, removed: 0 },
    files: ['a.txt', 'b.txt', 'new/ü?"x".txt'],
    uncommitted: 2,
  })
  expect(userState()).toEqual(before)
  expect(await shop.evidence(repo, told.now, [])).toMatchObject({
    commitCount: 0,
    change: { files: 0 },
    uncommitted: 0,
  })
})

test('of rewritten history the commits count that the old one does not have', async () => {
  const { repo, shop, commit, git } = openShopBench()
  commit(repo, 'b.txt', 'b\n')
  const since = await shop.snapshot(repo)
  git(repo, 'commit', '--quiet', '--amend', '--message', 'amended')
  const amended = await shop.evidence(repo, since, [])
  expect(amended).toMatchObject({ commitCount: 1, commits: [{ subject: 'amended' }], change: { files: 0 } })
  git(repo, 'reset', '--quiet', '--hard', 'HEAD~1')
  expect(await shop.evidence(repo, since, [])).toMatchObject({ commitCount: 0, change: { files: 1, removed: 1 } })
})

test('a commit that its user makes in the same second as the agent is not the agent’s work', async () => {
  const { repo, shop, commit, env, git } = openShopBench()
  const since = await shop.snapshot(repo)
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
  const told = await shop.evidence(repo, since, [], { worker: { trace, since: began } })
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
  ['of a heading', 'Title\n=======\n', false],
  ['of a drawing', '<<<<<<<<<<\n=======\n>>>>>>>>>>\n', false],
])('marks of a conflict that were committed are seen: %s', async (_, text, isMarked) => {
  const { repo, shop, commit } = openShopBench()
  const since = await shop.snapshot(repo)
  commit(repo, 'b.txt', text)
  const { conflicts, underWay } = await shop.evidence(repo, since, [])
  expect({ conflicts, underWay }).toEqual({ conflicts: isMarked ? ['b.txt'] : [], underWay: null })
})

test('a conflict that a stash has left, and patches that do not apply, are unfinished', async () => {
  const { repo, shop, commit, git, head } = openShopBench()
  const base = head(repo)
  put(repo, 'a.txt', 'stashed\n')
  git(repo, 'stash', '--quiet')
  commit(repo, 'a.txt', 'committed\n')
  const since = await shop.snapshot(repo)
  expect(() => git(repo, 'stash', 'pop', '--quiet')).toThrow()
  expect(await shop.evidence(repo, since, [])).toMatchObject({
    conflicts: ['a.txt'],
    underWay: 'a merge without its end',
  })
  git(repo, 'reset', '--quiet', '--hard', base)
  git(repo, 'format-patch', '--quiet', '--output=../a.patch', '-1', since.head ?? '')
  commit(repo, 'a.txt', 'other\n')
  expect(() => git(repo, 'am', '--quiet', '../a.patch')).toThrow()
  expect(await shop.evidence(repo, since, [])).toMatchObject({ underWay: 'a git am' })
})

test('more commits than are named are counted', async () => {
  const { repo, shop, git } = openShopBench()
  const since = await shop.snapshot(repo)
  for (let n = 0; n < 15; n++) git(repo, 'commit', '--quiet', '--allow-empty', '--message', `${n}`)
  const { commits, commitCount } = await shop.evidence(repo, since, [])
  expect([commits.length, commits[0]?.subject, commitCount]).toEqual([12, '14', 15])
  expect((await shop.log(repo, 2)).map(({ subject }) => subject)).toEqual(['14', '13'])
})

test('it works without a commit, in a worktree and below the top', async () => {
  const bench = openGitBench()
  const repo = bench.repository('repo')
  const shop = gitWorkshop({ env: bench.env })
  put(repo, 'deep/er/a.txt', 'a\n')
  expect(await shop.survey(repo)).toEqual({
    top: repo,
    gitDir: path.join(repo, '.git'),
    branch: 'main',
    head: null,
    isClean: false,
  })
  expect(await shop.log(repo, 5)).toEqual([])
  const since = await shop.snapshot(repo)
  expect(since.head).toBeNull()
  put(repo, 'deep/er/list.md', 'x\n')
  put(repo, 'deep/er/b.txt', 'b\n')
  put(repo, 'list.md', 'x\n')
  const below = path.join(repo, 'deep/er')
  const told = await shop.evidence(below, since, ['list.md'])
  expect(told).toMatchObject({ files: ['b.txt', '../../list.md'], uncommitted: 2, commitCount: 0 })
  bench.git(repo, 'add', '.')
  bench.git(repo, 'commit', '--quiet', '--message', 'first')
  expect(await shop.evidence(below, since, ['list.md'])).toMatchObject({ commitCount: 1, uncommitted: 0 })
  const tree = path.join(bench.root, 'tree')
  bench.git(repo, 'worktree', 'add', '--quiet', tree)
  const there = await shop.snapshot(tree)
  put(tree, 'c.txt', 'c\n')
  expect(await shop.evidence(tree, there, [])).toMatchObject({ files: ['c.txt'] })
  expect(await shop.evidence(repo, there, [])).toMatchObject({ files: [] })
})

test('what was seen last survives a collection of garbage; when it is gone, HEAD of that time stands for it', async () => {
  const { repo, shop, git } = openShopBench()
  put(repo, 'x.txt', 'x\n')
  const first = await shop.snapshot(repo)
  git(repo, 'gc', '--quiet', '--prune=now')
  put(repo, 'x.txt', 'y\n')
  expect(await shop.evidence(repo, first, [])).toMatchObject({ files: ['x.txt'], change: { added: 1, removed: 1 } })
  git(repo, 'gc', '--quiet', '--prune=now')
  expect(await shop.evidence(repo, first, [])).toMatchObject({ files: ['x.txt'], change: { added: 1, removed: 0 } })
})

test('a folder becomes a repository with all that lies in it; one that is there stays; one that was cut short is finished', async () => {
  const bench = openGitBench()
  const shop = gitWorkshop({ env: bench.env })
  const folder = path.join(bench.root, 'idea')
  put(folder, 'a.txt', 'a')
  put(folder, '.agent/STATUS.md', 'view')
  expect(await shop.survey(folder)).toBeNull()
  fs.mkdirSync(path.join(folder, '.git/oneshot'), { recursive: true })
  fs.writeFileSync(path.join(folder, '.git/oneshot/founding'), '{"isBegun":true}')
  await Promise.all([shop.found(folder), gitWorkshop({ env: bench.env }).found(folder)])
  expect(await shop.survey(folder)).toMatchObject({ top: folder, branch: 'main', isClean: true })
  expect(bench.git(folder, 'ls-tree', '-r', '--name-only', 'HEAD')).toBe('a.txt\n')
  expect(bench.git(folder, 'log', '--format=%an')).toBe('oneshot\n')
  const before = bench.git(folder, 'rev-parse', 'HEAD')
  await shop.found(folder)
  expect(bench.git(folder, 'rev-parse', 'HEAD')).toBe(before)
  const empty = path.join(bench.root, 'empty')
  fs.mkdirSync(empty)
  await shop.found(empty)
  expect((await shop.survey(empty))?.head).toMatch(/^[0-9a-f]{40}$/)
})
