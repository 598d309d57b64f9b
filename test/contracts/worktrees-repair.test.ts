import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { Worktree } from '../../src/ports/worktrees.ts'
import { put } from './git-fixture.ts'
import { openWorktreesFixture, type WorktreesFixture } from './worktrees-fixture.ts'

const removeEntries = ({ repo }: WorktreesFixture): void =>
  fs.rmSync(path.join(repo, '.git/worktrees'), { recursive: true })
const removeFolder = (_: WorktreesFixture, { path: folder }: Worktree): void => fs.rmSync(folder, { recursive: true })

/** A removal of all entries that runs beside a repair of one can leave such an entry. */
function removeFromEntry(git: WorktreesFixture['git'], one: Worktree, file: string): void {
  const entry = git(one.path, 'rev-parse', '--absolute-git-dir').trim()
  const removed = fs.readdirSync(entry).filter(name => name.startsWith(file))
  expect(removed).not.toEqual([])
  for (const name of removed) fs.rmSync(path.join(entry, name), { recursive: true })
}

const DAMAGES: Readonly<Record<string, readonly ((all: WorktreesFixture, one: Worktree) => unknown)[]>> = {
  'removes its .git': [(_, one) => fs.rmSync(path.join(one.path, '.git'))],
  'leads its .git elsewhere': [({ root }, one) => put(one.path, '.git', `gitdir: ${root}\n`)],
  'removes all of .git/worktrees': [removeEntries],
  'removes .git/worktrees and its .git': [removeEntries, (_, one) => fs.rmSync(path.join(one.path, '.git'))],
  ...Object.fromEntries(
    ['oneshot', 'HEAD', 'index'].map(file => [
      `leaves its entry in .git/worktrees without ${file}`,
      [({ git }: WorktreesFixture, one: Worktree) => removeFromEntry(git, one, file)],
    ]),
  ),
  'removes its folder and .git/worktrees': [removeEntries, removeFolder],
  'locks and removes it': [({ repo, git }, one) => git(repo, 'worktree', 'lock', one.path), removeFolder],
  'deletes the branch and the folder': [
    ({ repo, git }, one) => git(repo, 'update-ref', '-d', `refs/heads/${one.branch}`),
    removeFolder,
  ],
}

test.each(Object.entries(DAMAGES))('repair restores a worktree after an agent %s', async (name, damages) => {
  const all = openWorktreesFixture()
  const { repo, shop: worktrees, bench, commit, git, userState } = all
  const [one, other] = [bench('one'), bench('other')]
  for (const place of [one, other]) await worktrees.open(repo, place, 'main')
  const made = commit(one.path, 'b.txt', 'b\n')
  put(one.path, 'c.txt', 'not committed\n')
  const before = userState()
  expect(await worktrees.repair(repo, one, 'main')).toBeNull()
  for (const damage of damages) damage(all, one)
  expect(await worktrees.repair(repo, one, made)).toBe('folder')
  await worktrees.open(repo, one, 'main')
  expect(await worktrees.repair(repo, one, made)).toBeNull()
  expect(git(one.path, 'rev-parse', 'HEAD', '--abbrev-ref', 'HEAD').trim().split('\n')).toEqual([made, one.branch])
  const isKept = !/folder|locks/.test(name)
  expect(git(one.path, 'status', '--porcelain')).toBe(isKept ? '?? c.txt\n' : '')
  if (!isKept) put(one.path, 'c.txt', 'again\n')
  const { files } = await worktrees.collectEvidence(one.path, { head: null, tree: 'main^{tree}' }, [])
  expect(files).toEqual(['b.txt', 'c.txt'])
  await worktrees.repair(repo, other, 'main')
  const judged = await worktrees.commitAll(one, 'work', [], 'main')
  expect(await worktrees.merge(other, judged, 'merge')).toMatchObject({ kind: 'merged' })
  expect(userState()).toEqual(before)
})

test('oneshot refuses a folder in which an agent made its own repository, and leaves it as it is', async () => {
  const { repo, shop: worktrees, bench, git } = openWorktreesFixture()
  const one = bench('one')
  await worktrees.open(repo, one, 'main')
  fs.rmSync(path.join(one.path, '.git'))
  git(one.path, 'init', '--quiet')
  await worktrees.repair(repo, one, 'main')
  await expect(worktrees.commitAll(one, 'work', [], 'main')).rejects.toThrow(
    /another repository|not the worktree that oneshot opened/,
  )
  expect(fs.statSync(path.join(one.path, '.git')).isDirectory()).toBe(true)
})
