import fs from 'node:fs'
import path from 'node:path'
import type { Bench, Workshop } from '../../src/ports/workshop.ts'
import { gitWorkshop } from '../../src/world/git/workshop/git-workshop.ts'
import { type GitBench, openGitBench, put } from './git-bench.ts'

/** A user's repository with a few commits, and a workshop in it. */
export interface ShopBench extends GitBench {
  readonly repo: string
  readonly shop: Workshop
  readonly bench: (name: string) => Bench
  readonly commit: (folder: string, name: string, content: string) => string
  readonly head: (folder: string, ref?: string) => string
  /** All that only `land` may change: HEAD, index, branches that are not ours, stash, files. */
  readonly userState: () => Record<string, string>
}

export function openShopBench(): ShopBench {
  const bench = openGitBench()
  const repo = bench.repository('repo')
  const head = (folder: string, ref = 'HEAD'): string => bench.git(folder, 'rev-parse', ref).trim()
  const commit = (folder: string, name: string, content: string): string => {
    put(folder, name, content)
    bench.git(folder, 'add', '--all')
    bench.git(folder, 'commit', '--quiet', '--message', `${name} in ${path.basename(folder)}`)
    return head(folder)
  }
  put(repo, '.gitignore', 'node_modules/\n')
  put(repo, 'PRD.md', '- [ ] one\n- [ ] two\n')
  commit(repo, 'a.txt', 'a\n')
  return {
    ...bench,
    repo,
    shop: gitWorkshop({ env: bench.env }),
    bench: name => ({ path: path.join(repo, '.agent/worktrees/demo', name), branch: `oneshot/demo/${name}` }),
    commit,
    head,
    userState: () => ({
      head: fs.readFileSync(path.join(repo, '.git/HEAD'), 'utf8'),
      index: fs.readFileSync(path.join(repo, '.git/index')).toString('hex'),
      refs: bench.git(repo, 'for-each-ref', 'refs/heads/main', 'refs/stash', 'refs/tags'),
      files: bench.git(repo, 'ls-files', '-z', '-o', '-c', '-s', '--exclude-standard'),
      status: bench.git(repo, '--no-optional-locks', 'status', '--porcelain', '-z', '--untracked-files=all'),
    }),
  }
}
