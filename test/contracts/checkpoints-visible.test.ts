import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { type GitBench, NEVER, occasion, openGitBench, put, saved } from './git-bench.ts'
import { userState } from './working-tree.ts'

const visibly = occasion({ isVisible: true, at: new Date(2027, 0, 15, 9, 5).getTime() })

function begin(bench: GitBench): string {
  const repo = bench.repository('repo')
  put(repo, 'a.txt', 'a\n')
  put(repo, '.gitignore', 'ignored\n')
  bench.git(repo, 'add', '.')
  bench.git(repo, 'commit', '--quiet', '--message', 'first')
  put(repo, 'a.txt', 'b\n')
  put(repo, 'new.txt', 'new\n')
  put(repo, 'ignored', 'x')
  return repo
}

test('everything that changed becomes a commit on the branch, and the index follows', async () => {
  const bench = openGitBench()
  const repo = begin(bench)
  for (const hook of ['pre-commit', 'commit-msg', 'post-commit', 'reference-transaction', 'post-index-change']) {
    put(repo, `.git/hooks/${hook}`, `#!/bin/sh\necho ran >> ${bench.root}/hooks\n`, 0o755)
  }
  const checkpoints = bench.checkpoints()
  const keeping = bench.keeping(repo)
  const made = await saved(checkpoints.save(keeping, visibly, NEVER))
  expect(fs.existsSync(path.join(bench.root, 'hooks'))).toBe(false)
  expect(bench.git(repo, 'log', '-1', '--format=%s %an %D')).toBe('WIP: checkpoint 0905 Somebody HEAD -> main\n')
  expect(bench.git(repo, 'status', '--porcelain')).toBe('')
  expect(bench.git(repo, 'show', '--format=', '--name-only', 'HEAD')).toBe('a.txt\nnew.txt\n')
  expect(made).toMatchObject({ head: bench.git(repo, 'rev-parse', 'HEAD').trim(), leftOut: [] })
  expect(bench.git(repo, 'reflog', '-1', '--format=%gs')).toBe('commit: WIP: checkpoint 0905\n')
  expect(await checkpoints.save(keeping, visibly, NEVER), 'our own commit is no change').toMatchObject({ isNew: false })
  bench.expectSound(repo)
})

test('a first commit, of somebody without a name', async () => {
  const bench = openGitBench()
  const repo = bench.repository('repo')
  bench.git(repo, 'config', '--unset', 'user.name')
  bench.git(repo, 'config', 'user.useConfigOnly', 'true')
  put(repo, 'a.txt', 'a')
  await saved(bench.checkpoints().save(bench.keeping(repo), visibly, NEVER))
  expect(bench.git(repo, 'log', '--format=%s %an', 'main')).toBe('WIP: checkpoint 0905 oneshot\n')
  expect(bench.git(repo, 'status', '--porcelain')).toBe('')
})

const NOT_NOW: Readonly<Record<string, { begin: (bench: GitBench, repo: string) => void; says: string }>> = {
  'no branch': {
    begin: (bench, repo) => bench.git(repo, 'checkout', '--quiet', '--detach'),
    says: 'no branch is checked out',
  },
  'a merge': { begin: (_, repo) => put(repo, '.git/MERGE_HEAD', ''), says: 'a merge is under way' },
  'a rebase': { begin: (_, repo) => put(repo, '.git/rebase-merge/done', ''), says: 'a rebase is under way' },
  'a cherry-pick': { begin: (_, repo) => put(repo, '.git/CHERRY_PICK_HEAD', ''), says: 'a cherry-pick is under way' },
  'a bisection': { begin: (_, repo) => put(repo, '.git/BISECT_LOG', ''), says: 'a bisection is under way' },
  'a file that is staged and too large': {
    begin: (bench, repo) => {
      put(repo, 'large.bin', 'x'.repeat(5000))
      bench.git(repo, 'add', 'large.bin')
    },
    says: 'large.bin is staged, and is not part of the checkpoint',
  },
  'an ignored file that is staged by force': {
    begin: (bench, repo) => bench.git(repo, 'add', '--force', 'ignored'),
    says: 'ignored is staged, and is not part of the checkpoint',
  },
  'an index that is held': {
    begin: (_, repo) => put(repo, '.git/index.lock', ''),
    says: 'the index is locked by another git process',
  },
}

test.each(Object.entries(NOT_NOW))(
  '%s: there is a checkpoint and no visible commit',
  async (_, { begin: wait, says }) => {
    const bench = openGitBench()
    const repo = begin(bench)
    const checkpoints = bench.checkpoints({ largest: 2048 })
    const keeping = bench.keeping(repo)
    await saved(checkpoints.save(keeping, occasion(), NEVER))
    wait(bench, repo)
    put(repo, 'a.txt', 'c\n')
    const before = userState(repo)
    const { leftOut } = await saved(checkpoints.save(keeping, visibly, NEVER))
    expect(leftOut[0]).toBe(`there is no visible commit: ${says}`)
    expect(userState(repo)).toEqual(before)
  },
)

test('nothing is committed when there is nothing to commit', async () => {
  const bench = openGitBench()
  const repo = begin(bench)
  bench.git(repo, 'add', '.')
  bench.git(repo, 'commit', '--quiet', '--message', 'all of it')
  const before = userState(repo)
  expect(await saved(bench.checkpoints().save(bench.keeping(repo), visibly, NEVER))).toMatchObject({ leftOut: [] })
  expect(userState(repo)).toEqual(before)
})

test('a lock that we have left on the index is taken away, one of somebody else is not', async () => {
  const bench = openGitBench()
  const repo = begin(bench)
  const keeping = bench.keeping(repo)
  const draft = path.join(repo, `.git/index.oneshot-${keeping.sessionId}-dead`)
  fs.copyFileSync(path.join(repo, '.git/index'), draft)
  fs.linkSync(draft, path.join(repo, '.git/index.lock'))
  const made = await saved(bench.checkpoints().save(keeping, visibly, NEVER))
  expect(made.leftOut).toEqual([])
  expect(fs.readdirSync(path.join(repo, '.git')).filter(name => name.startsWith('index'))).toEqual(['index'])
  expect(bench.git(repo, 'log', '-1', '--format=%s')).toBe('WIP: checkpoint 0905\n')
})

test('killed after HEAD was moved, the index follows the next time, visibly or not', async () => {
  const bench = openGitBench()
  const repo = begin(bench)
  const keeping = bench.keeping(repo)
  const index = path.join(repo, '.git/index')
  const before = fs.readFileSync(index)
  await saved(bench.checkpoints().save(keeping, visibly, NEVER))
  const draft = `${index}.oneshot-${keeping.sessionId}-dead`
  fs.renameSync(index, draft)
  fs.linkSync(draft, `${index}.lock`)
  fs.writeFileSync(index, before)
  expect(bench.git(repo, 'diff', '--cached', '--name-only')).toBe('a.txt\nnew.txt\n')
  await bench.checkpoints().save(keeping, occasion(), NEVER)
  expect(bench.git(repo, 'status', '--porcelain')).toBe('')
  expect(fs.readdirSync(path.join(repo, '.git')).filter(name => name.startsWith('index'))).toEqual(['index'])
})
