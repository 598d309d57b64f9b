import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { gitWorktrees } from '../../src/world/git/worktrees/git-worktrees.ts'
import { put } from './git-fixture.ts'
import { openWorktreesFixture } from './worktrees-fixture.ts'

const LARGE = Buffer.alloc(5_000, 'x')

function openSmallShop() {
  const all = openWorktreesFixture()
  return { ...all, shop: gitWorktrees({ env: all.env, maxFileSize: 2_048 }) }
}

test('reset leaves untracked files in place that are too large to save, and refuses if a tracked file is too large', async () => {
  const { repo, shop: worktrees, bench, git, head } = openSmallShop()
  const one = bench('one')
  await worktrees.open(repo, one, 'main')
  put(one.path, 'made/huge.bin', LARGE)
  put(one.path, 'made/small.txt', 'small')
  put(one.path, 'other/small.txt', 'small')
  await worktrees.reset(one, 'main')
  expect(git(one.path, 'status', '--porcelain', '--untracked-files=all')).toBe('?? made/huge.bin\n')
  expect(fs.existsSync(path.join(one.path, 'other'))).toBe(false)
  expect(git(repo, 'show', 'refs/oneshot-loop/kept/oneshot+demo+one:made/small.txt')).toBe('small')
  put(one.path, 'a.txt', LARGE)
  await expect(worktrees.reset(one, 'main')).rejects.toThrow(/a\.txt has 4\.9 KB, more than 2 KB: commit it or move/)
  put(one.path, 'a.txt', 'a\n')
  git(one.path, 'add', 'made/huge.bin')
  await expect(worktrees.reset(one, 'main')).rejects.toThrow(/made\/huge\.bin has 4\.9 KB/)
  expect(fs.readFileSync(path.join(one.path, 'made/huge.bin'))).toEqual(LARGE)
  git(one.path, 'commit', '--quiet', '--message', 'huge')
  await worktrees.reset(one, 'main')
  expect([head(one.path), git(one.path, 'status', '--porcelain')]).toEqual([head(repo), ''])
})

test('commitAll keeps a file that is too large to save if somebody has committed it', async () => {
  const { repo, shop: worktrees, bench, commit, git } = openSmallShop()
  const one = bench('one')
  await worktrees.open(repo, one, 'main')
  await worktrees.snapshot(one.path)
  put(one.path, 'huge.bin', LARGE)
  commit(one.path, 'b.txt', 'b')
  put(one.path, 'c.txt', 'c')
  const sealed = await worktrees.commitAll(one, 'work', [], 'main')
  expect(git(repo, 'diff', '--name-only', 'main', sealed)).toBe('b.txt\nc.txt\nhuge.bin\n')
  expect(git(one.path, 'status', '--porcelain')).toBe('')
})

test('a failed merge leaves untracked files in place that are too large to save, and merge refuses if a tracked file is too large', async () => {
  const { repo, shop: worktrees, bench, commit, git } = openSmallShop()
  const [all, one] = [bench('all'), bench('one')]
  for (const each of [all, one]) await worktrees.open(repo, each, 'main')
  commit(one.path, 'a.txt', 'one\n')
  put(all.path, 'committed.bin', LARGE)
  commit(all.path, 'a.txt', 'all\n')
  put(all.path, 'huge.bin', LARGE)
  put(all.path, 'small.txt', 'small')
  expect(await worktrees.merge(all, one.branch, 'merge')).toEqual({ kind: 'conflict', files: ['a.txt'] })
  expect(git(all.path, 'status', '--porcelain')).toBe('?? huge.bin\n?? small.txt\n')
  put(all.path, 'PRD.md', LARGE)
  await expect(worktrees.merge(all, one.branch, 'merge')).rejects.toThrow(/PRD\.md has 4\.9 KB/)
  await expect(worktrees.startMerge(all, one.branch)).rejects.toThrow(/PRD\.md has 4\.9 KB/)
  expect(fs.readFileSync(path.join(all.path, 'PRD.md'))).toEqual(LARGE)
})

test.skipIf(process.getuid?.() === 0)('reset leaves files in place that oneshot may not read', async () => {
  const { repo, shop: worktrees, bench, git } = openSmallShop()
  const one = bench('one')
  await worktrees.open(repo, one, 'main')
  put(one.path, 'secret.txt', 'secret', 0o000)
  put(one.path, 'small.txt', 'small')
  await worktrees.reset(one, 'main')
  expect(git(one.path, 'status', '--porcelain')).toBe('?? secret.txt\n')
})
