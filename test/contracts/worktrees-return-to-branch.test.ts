import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { openWorktreesFixture } from './worktrees-fixture.ts'

/** Shell lines that leave main and stop in the middle of an operation, with the command that ends it. */
const OPERATIONS: Readonly<Record<string, readonly [line: string, abort: string]>> = {
  'a rebase': ['git rebase --quiet main', 'git rebase --abort'],
  'a merge': ['git merge --quiet main', 'git merge --abort'],
  'a cherry-pick': ['git cherry-pick main', 'git cherry-pick --abort'],
  'a revert': ['echo other > a.txt; git commit --quiet -am other; git revert --no-edit HEAD~1', 'git revert --abort'],
  'a git am': ['git format-patch -1 --stdout main | git am --quiet', 'git am --abort'],
  'a bisection': ['git bisect start; git bisect bad; git bisect good HEAD~2', 'git bisect reset'],
}

test.each(Object.entries(OPERATIONS))(
  'the loop does not move HEAD or a branch while %s is in progress, and names the command that ends it',
  async (operation, [line, abort]) => {
    const { repo, shop: worktrees, git, commit, env } = openWorktreesFixture()
    const sh = (script: string): void =>
      void execFileSync('sh', ['-c', script], { cwd: repo, env, stdio: 'pipe' }).toString()
    commit(repo, 'b.txt', 'b\n')
    commit(repo, 'a.txt', 'main\n')
    const since = await worktrees.snapshot(repo)
    git(repo, 'checkout', '--quiet', '-b', 'side', operation === 'a bisection' ? 'main' : 'HEAD~1')
    if (operation !== 'a bisection') commit(repo, 'a.txt', 'side\n')
    sh(`${line} || true`)
    const state = (): string => fs.readFileSync(path.join(repo, '.git/HEAD'), 'utf8') + git(repo, 'for-each-ref')
    const before = state()
    const from = before.startsWith('ref') ? 'side' : 'no branch'
    const returned = await worktrees.returnToBranch(repo, 'main', since)
    expect(returned).toEqual({ kind: 'in-progress', from, operation, abort })
    expect(state()).toBe(before)
    sh(abort)
    expect(await worktrees.returnToBranch(repo, 'main', since)).toMatchObject({ from: 'side' })
    expect(git(repo, 'rev-parse', '--abbrev-ref', 'HEAD').trim()).toBe('main')
  },
)
