import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { put } from './git-fixture.ts'
import { openWorktreesFixture, type WorktreesFixture } from './worktrees-fixture.ts'

/** A branch that changes one file, adds one and removes one. */
function withBranch(all: WorktreesFixture): string {
  const { repo, git, commit } = all
  commit(repo, 'gone.txt', 'gone\n')
  git(repo, 'checkout', '--quiet', '-b', 'work')
  git(repo, 'rm', '--quiet', 'gone.txt')
  put(repo, 'a.txt', 'a long line of work\n')
  const id = commit(repo, 'sub/new.txt', 'new\n')
  git(repo, 'checkout', '--quiet', 'main')
  return id
}

test('a landing fast-forwards the checkout to the branch and keeps the user’s other changes', async () => {
  const all = openWorktreesFixture()
  const { repo, shop: worktrees, git, head } = all
  const id = withBranch(all)
  put(repo, '.gitignore', 'node_modules/\nsub/x\n')
  put(repo, 'mine.txt', 'untracked')
  put(repo, 'staged.txt', 'staged')
  put(repo, '.git/hooks/post-merge', '#!/bin/sh\ntouch was-run\n', 0o755)
  git(repo, 'add', 'staged.txt')
  expect(await worktrees.land(repo, 'work', 'land')).toEqual({ commit: id, isForward: true })
  expect(head(repo, 'main')).toBe(id)
  expect(git(repo, 'status', '--porcelain')).toBe(' M .gitignore\nA  staged.txt\n?? mine.txt\n')
  expect(await worktrees.land(repo, 'work', 'land'), 'again').toEqual({ commit: id, isForward: true })
})

test('a landing makes a merge commit, without another worktree, if both branches have new commits', async () => {
  const all = openWorktreesFixture()
  const { repo, shop: worktrees, git, commit } = all
  withBranch(all)
  commit(repo, 'other.txt', 'other\n')
  put(repo, 'staged.txt', 'staged')
  git(repo, 'add', 'staged.txt')
  const landed = await worktrees.land(repo, 'work', 'land: work')
  expect(landed.isForward).toBe(false)
  expect(git(repo, 'log', '-1', '--format=%H %s').trim()).toBe(`${landed.commit} land: work`)
  expect(git(repo, 'status', '--porcelain')).toBe('A  staged.txt\n')
  expect(git(repo, 'worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(1)
  expect(await worktrees.land(repo, 'work', 'again')).toMatchObject({ commit: landed.commit })
})

const WAYS: Readonly<Record<string, [RegExp, (all: WorktreesFixture) => void]>> = {
  'a changed file': [/a\.txt is changed here as well/, ({ repo }) => put(repo, 'a.txt', 'mine')],
  'a staged file': [
    /a\.txt is changed here as well/,
    ({ repo, git }) => {
      put(repo, 'a.txt', 'mine')
      git(repo, 'add', 'a.txt')
      put(repo, 'a.txt', 'a\n')
    },
  ],
  'an untracked file': [/sub\/new\.txt is changed here as well/, ({ repo }) => put(repo, 'sub/new.txt', 'mine')],
  'an ignored file': [
    /sub\/new\.txt is in the way, and not in git/,
    ({ repo }) => {
      put(repo, '.git/info/exclude', 'sub/\n')
      put(repo, 'sub/new.txt', 'mine')
    },
  ],
  'a conflict': [/conflicts with your files: a\.txt/, ({ repo, commit }) => commit(repo, 'a.txt', 'other\n')],
  'a merge': [/a merge is under way/, ({ repo }) => put(repo, '.git/MERGE_HEAD', '')],
}

test.each(Object.entries(WAYS))(
  'a landing refuses and changes nothing with %s in the way',
  async (_, [reason, obstruct]) => {
    const all = openWorktreesFixture()
    withBranch(all)
    obstruct(all)
    const before = all.userState()
    await expect(all.shop.land(all.repo, 'work', 'land')).rejects.toThrow(reason)
    expect(all.userState()).toEqual(before)
  },
)

test('a landing fast-forwards a checkout with a detached HEAD', async () => {
  const all = openWorktreesFixture()
  const id = withBranch(all)
  all.git(all.repo, 'checkout', '--quiet', '--detach')
  expect(await all.shop.land(all.repo, 'work', 'land')).toEqual({ commit: id, isForward: true })
})

test('a landing merges into a detached HEAD as into a branch, and moves no branch', async () => {
  const { repo, shop, git, commit, head, ...all } = openWorktreesFixture()
  const id = withBranch({ repo, shop, git, commit, head, ...all })
  git(repo, 'checkout', '--quiet', '--detach')
  const own = commit(repo, 'b.txt', 'b')
  const main = head(repo, 'main')
  const landed = await shop.land(repo, 'work', 'land')
  expect(landed.isForward).toBe(false)
  expect(git(repo, 'log', '-1', '--format=%H %P').trim()).toBe(`${landed.commit} ${own} ${id}`)
  expect([head(repo, 'main'), git(repo, 'status', '--porcelain')]).toEqual([main, ''])
})

/** The locks that git holds while it lands, and leaves when somebody kills it. */
const LEFT = ['index.lock', 'HEAD.lock', 'ORIG_HEAD.lock', 'refs/heads/main.lock']

function leave(repo: string, lock: string): void {
  put(repo, `.git/${lock}`)
  fs.utimesSync(path.join(repo, '.git', lock), Date.now() / 1000 - 1, Date.now() / 1000 - 4.5)
}

test('the next landing finishes an interrupted one, and does not overwrite a file that the user changed since', async () => {
  const all = openWorktreesFixture()
  const { repo, shop: worktrees, git, head } = all
  const target = withBranch(all)
  put(repo, 'mine.txt', 'untracked')
  const note = path.join(repo, '.git/oneshot/landing')
  put(repo, '.git/oneshot/landing', JSON.stringify({ head: head(repo), target, ref: 'refs/heads/main' }))
  put(repo, 'sub/new.txt', 'new\n')
  put(repo, 'a.txt', 'the user was quicker')
  await expect(worktrees.land(repo, 'work', 'land')).rejects.toThrow(/a\.txt was changed after landing was interrupted/)
  expect(fs.readFileSync(path.join(repo, 'a.txt'), 'utf8')).toBe('the user was quicker')
  expect(fs.existsSync(note)).toBe(true)
  put(repo, 'a.txt', 'a long li')
  fs.rmSync(path.join(repo, 'gone.txt'))
  for (const lock of LEFT) leave(repo, lock)
  fs.utimesSync(note, 0, 0)
  expect(await worktrees.land(repo, 'work', 'land')).toEqual({ commit: target, isForward: true })
  expect(git(repo, 'status', '--porcelain')).toBe('?? mine.txt\n')
})

test.each([
  [{ target: '--index-output=../pwned' }, 'it is damaged: in target'],
  [{ ref: 'refs/heads/../../../pwned' }, 'it is damaged: in ref'],
  [{ version: 2 }, 'a newer oneshot wrote it'],
])('a landing refuses a record with %j in the journal, and keeps the record', async (part, why) => {
  const all = openWorktreesFixture()
  const { repo, shop: worktrees, head } = all
  const text = JSON.stringify({ head: head(repo), target: withBranch(all), ref: 'refs/heads/main', ...part })
  put(repo, '.git/oneshot/landing', text)
  await expect(worktrees.land(repo, 'work', 'land')).rejects.toThrow(why)
  expect(fs.readFileSync(path.join(repo, '.git/oneshot/landing'), 'utf8')).toBe(text)
})

test('the next landing removes the locks of one that was killed after its last step, so that the user can commit', async () => {
  const all = openWorktreesFixture()
  const { repo, shop: worktrees, git, head, commit } = all
  const [before, target] = [head(repo), withBranch(all)]
  git(repo, 'merge', '--quiet', '--ff-only', 'work')
  put(repo, '.git/oneshot/landing', JSON.stringify({ head: before, target, ref: 'refs/heads/main' }))
  fs.utimesSync(path.join(repo, '.git/oneshot/landing'), 0, 0)
  for (const lock of LEFT.filter(name => name !== 'index.lock')) leave(repo, lock)
  expect(await worktrees.land(repo, 'work', 'land')).toEqual({ commit: target, isForward: true })
  commit(repo, 'more.txt', 'more')
})

test.each([
  ['by oneshot', false],
  ['by oneshot, after the user’s branch got a commit', true],
  ['by hand', false],
  ['by hand, after the user’s branch got a commit', true],
])('a landing does not merge work again that was squashed %s', async (who, isMoved) => {
  const all = openWorktreesFixture()
  const { repo, shop: worktrees, git, commit, head } = all
  withBranch(all)
  if (isMoved) commit(repo, 'other.txt', 'other\n')
  if (who.startsWith('by oneshot')) {
    const dry = await worktrees.land(repo, 'work', 'land', { isSquash: true, isDry: true })
    expect(dry.commit).not.toBe(head(repo, 'main'))
    expect(git(repo, 'status', '--porcelain')).toBe('')
    const landed = await worktrees.land(repo, 'work', 'land', { isSquash: true })
    expect(landed).toEqual({ commit: head(repo, 'main'), isForward: false })
  } else {
    git(repo, 'merge', '--quiet', '--squash', 'work')
    git(repo, 'commit', '--quiet', '--no-edit')
  }
  const squashed = head(repo, 'main')
  expect(git(repo, 'log', '--format=%P', '-1').trim().split(' ')).toHaveLength(1)
  expect(await worktrees.land(repo, 'work', 'again'), 'again').toEqual({ commit: squashed, isForward: false })
  git(repo, 'checkout', '--quiet', 'work')
  put(repo, 'a.txt', 'a long line of more work\n')
  commit(repo, 'sub/new.txt', 'newer\n')
  git(repo, 'checkout', '--quiet', 'main')
  commit(repo, 'mine.txt', 'mine\n')
  await worktrees.land(repo, 'work', 'more')
  expect(fs.readFileSync(path.join(repo, 'a.txt'), 'utf8')).toBe('a long line of more work\n')
  expect(fs.readFileSync(path.join(repo, 'sub/new.txt'), 'utf8')).toBe('newer\n')
  expect(git(repo, 'log', '-1', '--format=%s').trim()).toBe('more')
  expect(fs.existsSync(path.join(repo, 'mine.txt'))).toBe(true)
  expect(git(repo, 'status', '--porcelain')).toBe('')
})

test('a commit that only claims to be the squash of a branch does not keep the work of that branch from landing', async () => {
  const all = openWorktreesFixture()
  const { repo, shop: worktrees, git } = all
  const id = withBranch(all)
  put(repo, 'mine.txt', 'mine\n')
  git(repo, 'add', '--all')
  git(repo, 'commit', '--quiet', '--message', `Forged\n\nSquashed commit of the following:\n\ncommit ${id}\n`)
  const { commit } = await worktrees.land(repo, 'work', 'land')
  expect(git(repo, 'log', '-1', '--format=%P', commit)).toContain(id)
  expect(fs.readFileSync(path.join(repo, 'sub/new.txt'), 'utf8')).toBe('new\n')
})

test('a landing counts a squash only for the part of a branch that it contains, whatever its message claims', async () => {
  const all = openWorktreesFixture()
  const { repo, shop: worktrees, git, commit } = all
  git(repo, 'checkout', '--quiet', '-b', 'work')
  const first = commit(repo, 'one.txt', 'one\n')
  const second = commit(repo, 'one.txt', 'one, and more\n')
  git(repo, 'checkout', '--quiet', 'main')
  git(repo, 'merge', '--quiet', '--squash', first)
  git(repo, 'commit', '--quiet', '--message', `part\n\ncommit ${first}\n\ncommit ${second}\n`)
  await worktrees.land(repo, 'work', 'land')
  expect(fs.readFileSync(path.join(repo, 'one.txt'), 'utf8')).toBe('one, and more\n')
})

test('a branch lands by squash again and again, even if the user edits its lines in between', async () => {
  const all = openWorktreesFixture()
  const { repo, shop: worktrees, git, commit } = all
  const lines = (...words: string[]): string => words.map(word => `${word}\n`).join('')
  const onBranch = (...words: string[]): void => {
    git(repo, 'checkout', '--quiet', 'work')
    commit(repo, 'list.txt', lines(...words))
    git(repo, 'checkout', '--quiet', 'main')
  }
  git(repo, 'checkout', '--quiet', '-b', 'work')
  onBranch('a', 'b', 'c', 'd', 'e', 'f', 'g')
  await worktrees.land(repo, 'work', 'first', { isSquash: true })
  commit(repo, 'list.txt', lines('mine', 'b', 'c', 'd', 'e', 'f', 'g'))
  onBranch('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h')
  await worktrees.land(repo, 'work', 'second', { isSquash: true })
  onBranch('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i')
  await worktrees.land(repo, 'work', 'third', { isSquash: true })
  expect(fs.readFileSync(path.join(repo, 'list.txt'), 'utf8')).toBe(
    lines('mine', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'),
  )
  expect(git(repo, 'log', '--merges', '--format=%s')).toBe('')
})
