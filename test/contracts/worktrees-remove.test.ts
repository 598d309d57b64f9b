import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { put } from './git-fixture.ts'
import { openWorktreesFixture, type WorktreesFixture } from './worktrees-fixture.ts'

/** Work that is only in the worktree, each with the reason that `remove` gives. */
const LOSSES: Readonly<Record<string, [RegExp, (all: WorktreesFixture, folder: string) => void]>> = {
  'a commit': [/has a commit that is nowhere else/, ({ commit }, folder) => commit(folder, 'b.txt', 'b')],
  'an untracked file': [/not committed/, (_, folder) => put(folder, 'new.txt', 'x')],
  'a changed file that git was told not to look at': [
    /not committed/,
    ({ git }, folder) => {
      git(folder, 'update-index', '--assume-unchanged', 'a.txt')
      put(folder, 'a.txt', 'hidden')
    },
  ],
  'something that is only staged': [
    /not committed/,
    ({ git }, folder) => {
      put(folder, 'a.txt', 'staged')
      git(folder, 'add', 'a.txt')
      put(folder, 'a.txt', 'a\n')
    },
  ],
  'a commit of no branch': [
    /commits that are nowhere else/,
    ({ git, commit }, folder) => {
      git(folder, 'checkout', '--quiet', '--detach')
      commit(folder, 'b.txt', 'b')
    },
  ],
  'a repository without a commit': [
    /repository of its own/,
    ({ git }, folder) => git(folder, 'init', '--quiet', 'sub'),
  ],
  'a repository that a commit only tells of': [
    /repository of its own/,
    ({ git, commit, repo }, folder) => {
      git(folder, 'init', '--quiet', 'sub')
      git(
        path.join(folder, 'sub'),
        '-c',
        'user.name=x',
        '-c',
        'user.email=x',
        'commit',
        '--quiet',
        '--allow-empty',
        '-m',
        'x',
      )
      commit(folder, 'b.txt', 'b')
      git(repo, 'branch', '--quiet', '--force', 'into', git(folder, 'rev-parse', 'HEAD').trim())
    },
  ],
  'a lock that the user has put on it': [
    /locked: mine/,
    ({ git }, folder) => git(folder, 'worktree', 'lock', '--reason', 'mine', folder),
  ],
  'a bisection': [/a bisection is under way/, ({ git }, folder) => git(folder, 'bisect', 'start')],
}

test.each(Object.entries(LOSSES))('remove keeps a worktree with %s in it', async (name, [reason, lose]) => {
  const all = openWorktreesFixture()
  const { repo, shop: worktrees, bench, git, head } = all
  git(repo, 'branch', 'into')
  const one = bench('one')
  await worktrees.open(repo, one, 'main')
  lose(all, one.path)
  const before = head(repo, one.branch)
  const isDirty = /untracked|not to look at/.test(name)
  expect(await worktrees.remove(repo, one, 'into')).toEqual({
    kind: 'kept',
    reason: expect.stringMatching(reason),
    ...(isDirty && { isDirty }),
  })
  expect(head(repo, one.branch)).toBe(before)
  expect(fs.existsSync(path.join(one.path, '.git'))).toBe(true)
})

test('remove deletes a worktree and its branch if all its work is elsewhere; ignored files do not count', async () => {
  const { repo, shop: worktrees, bench, commit, git, root } = openWorktreesFixture()
  git(repo, 'worktree', 'add', '--quiet', path.join(root, 'theirs'))
  fs.renameSync(path.join(root, 'theirs'), path.join(root, 'on-a-stick'))
  const [all, one] = [bench('all'), bench('one')]
  for (const each of [all, one]) await worktrees.open(repo, each, 'main')
  commit(one.path, 'b.txt', 'b')
  put(one.path, 'node_modules/x', 'x')
  await worktrees.merge(all, one.branch, 'merge')
  expect(await worktrees.remove(repo, one, all.branch)).toEqual({ kind: 'gone' })
  expect(await worktrees.remove(repo, one, all.branch), 'again').toEqual({ kind: 'gone' })
  expect(git(repo, 'branch', '--list', one.branch)).toBe('')
  expect(fs.readdirSync(path.dirname(one.path))).toEqual(['all'])
  expect(git(repo, 'worktree', 'list'), 'others stay').toContain('theirs')
  expect(await worktrees.remove(repo, all, all.branch)).toMatchObject({ kind: 'kept' })
})

test('remove keeps a branch that is checked out elsewhere', async () => {
  const { repo, shop: worktrees, bench, git, root } = openWorktreesFixture()
  const one = bench('one')
  await worktrees.open(repo, one, 'main')
  git(one.path, 'checkout', '--quiet', '--detach')
  git(repo, 'worktree', 'add', '--quiet', path.join(root, 'theirs'), one.branch)
  expect(await worktrees.remove(repo, one, 'main')).toMatchObject({
    reason: expect.stringMatching(/checked out at .*theirs/),
  })
})

test('the next remove finishes an interrupted one', async () => {
  const { repo, shop: worktrees, bench, git } = openWorktreesFixture()
  const one = bench('one')
  await worktrees.open(repo, one, 'main')
  fs.renameSync(one.path, `${one.path}.gone`)
  expect(await worktrees.remove(repo, one, 'main')).toEqual({ kind: 'gone' })
  expect(fs.readdirSync(path.dirname(one.path))).toEqual([])
  expect(git(repo, 'worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(1)
})

test('remove deletes the backup of a branch only if its work is elsewhere', async () => {
  const { repo, shop: worktrees, bench, commit, git } = openWorktreesFixture()
  const [all, one] = [bench('all'), bench('one')]
  for (const each of [all, one]) await worktrees.open(repo, each, 'main')
  const made = commit(one.path, 'b.txt', 'b')
  put(one.path, 'c.txt', 'c')
  await worktrees.reset(one, 'main')
  const kept = (): string => git(repo, 'for-each-ref', '--format=%(refname)', 'refs/oneshot-loop/kept')
  const clears = async (): Promise<string> => {
    await worktrees.open(repo, one, 'main')
    expect(await worktrees.remove(repo, one, all.branch)).toEqual({ kind: 'gone' })
    return kept()
  }
  const ref = 'refs/oneshot-loop/kept/oneshot+demo+one\n'
  expect(await clears(), 'a commit is nowhere else').toBe(ref)
  await worktrees.merge(all, made, 'merge')
  expect(await clears(), 'a file is nowhere else').toBe(ref)
  commit(all.path, 'moved/c.txt', 'c')
  expect(await clears(), 'nothing is').toBe('')
})
