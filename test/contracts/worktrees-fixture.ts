import fs from 'node:fs'
import path from 'node:path'
import type { Worktree, Worktrees } from '../../src/ports/worktrees.ts'
import { gitWorktrees } from '../../src/world/git/worktrees/git-worktrees.ts'
import { type GitFixture, openGitFixture, put } from './git-fixture.ts'

/** A user's repository with a few commits, and the worktrees of oneshot in it. */
export interface WorktreesFixture extends GitFixture {
  readonly repo: string
  readonly shop: Worktrees
  readonly bench: (name: string) => Worktree
  readonly commit: (folder: string, name: string, content: string) => string
  readonly head: (folder: string, ref?: string) => string
  /** Everything that only `land` may change: HEAD, index, the user's branches, stash, files. */
  readonly userState: () => Record<string, string>
}

export function openWorktreesFixture(): WorktreesFixture {
  const fixture = openGitFixture()
  const repo = fixture.repository('repo')
  const head = (folder: string, ref = 'HEAD'): string => fixture.git(folder, 'rev-parse', ref).trim()
  const commit = (folder: string, name: string, content: string): string => {
    put(folder, name, content)
    fixture.git(folder, 'add', '--all')
    fixture.git(folder, 'commit', '--quiet', '--message', `${name} in ${path.basename(folder)}`)
    return head(folder)
  }
  put(repo, '.gitignore', 'node_modules/\n')
  put(repo, 'PRD.md', '- [ ] one\n- [ ] two\n')
  commit(repo, 'a.txt', 'a\n')
  return {
    ...fixture,
    repo,
    shop: gitWorktrees({ env: fixture.env }),
    bench: name => ({ path: path.join(repo, '.agent/worktrees/demo', name), branch: `oneshot/demo/${name}` }),
    commit,
    head,
    userState: () => ({
      head: fs.readFileSync(path.join(repo, '.git/HEAD'), 'utf8'),
      index: fs.readFileSync(path.join(repo, '.git/index')).toString('hex'),
      refs: fixture.git(repo, 'for-each-ref', 'refs/heads/main', 'refs/stash', 'refs/tags'),
      files: fixture.git(repo, 'ls-files', '-z', '-o', '-c', '-s', '--exclude-standard'),
      status: fixture.git(repo, '--no-optional-locks', 'status', '--porcelain', '-z', '--untracked-files=all'),
    }),
  }
}
