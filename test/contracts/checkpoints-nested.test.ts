import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { type GitBench, NEVER, occasion, openGitBench, put, saved } from './git-bench.ts'
import { treeIn, userState } from './working-tree.ts'

function commit(bench: GitBench, repo: string): void {
  bench.git(repo, 'add', '--all')
  bench.git(repo, 'commit', '--quiet', '--message', 'more')
}

function begin(bench: GitBench): string {
  const repo = bench.repository('repo')
  put(repo, 'a.txt', 'a\n')
  commit(bench, repo)
  return repo
}

/** Adds a repository to the working tree; answers its path in it. */
type Builder = (bench: GitBench, repo: string) => string

const plain: Builder = (bench, repo) => {
  const nested = bench.repository('repo/in/side')
  put(nested, 'n.txt', 'n\n')
  commit(bench, nested)
  return path.relative(repo, nested)
}

const NESTED: Readonly<Record<string, Builder>> = {
  'a repository': plain,
  'a repository without a commit': (bench, repo) => path.relative(repo, bench.repository('repo/empty')),
  'a repository in a repository': (bench, repo) => {
    const outer = plain(bench, repo)
    bench.repository(`repo/${outer}/deeper`)
    return `${outer}/deeper`
  },
  'a submodule': (bench, repo) => {
    const source = bench.repository('source')
    put(source, 's.txt', 's\n')
    commit(bench, source)
    bench.git(repo, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', source, 'mod ule')
    bench.git(path.join(repo, 'mod ule'), 'config', 'user.name', 'Somebody')
    bench.git(path.join(repo, 'mod ule'), 'config', 'user.email', 'somebody@example.org')
    commit(bench, repo)
    return 'mod ule'
  },
  'a worktree of the same repository': (bench, repo) => {
    bench.git(repo, 'worktree', 'add', '--quiet', 'trees/one')
    return 'trees/one'
  },
}

test.each(Object.entries(NESTED))(
  '%s: uncommitted work in it is saved with the rest, and comes back',
  async (_, build) => {
    const bench = openGitBench()
    const repo = begin(bench)
    const nested = path.join(repo, build(bench, repo))
    const checkpoints = bench.checkpoints()
    const keeping = { ...bench.keeping(repo), nested: true }
    put(nested, 'work.txt', 'uncommitted\n')
    put(nested, 'run', 'x', 0o755)
    const tree = treeIn(repo)
    const before = userState(repo)
    const first = await saved(checkpoints.save(keeping, occasion(), NEVER))
    expect(first.leftOut).toEqual([])
    expect(userState(repo)).toEqual(before)
    expect(await checkpoints.save(keeping, occasion(), NEVER)).toMatchObject({ isNew: false })

    put(nested, 'work.txt', 'worse\n')
    fs.rmSync(path.join(nested, 'run'))
    put(nested, 'more/stray.txt', 'stray')
    const second = await saved(checkpoints.save(keeping, occasion(), NEVER))
    expect(second.change, 'what was done inside counts').toEqual({ files: 3, added: 2, removed: 2 })
    const text = await checkpoints.diff(keeping, first.commit, second.commit, { stat: false, colour: false })
    expect(text).toContain(`+++ b/${path.relative(repo, nested)}/work.txt`)

    const beside = path.join(bench.root, 'beside')
    expect(await checkpoints.restoreBeside(keeping, first, { branch: 'back', worktree: beside })).toEqual([])
    expect(treeIn(beside)).toEqual(tree)
    expect(await checkpoints.restoreHere(keeping, first, second)).toEqual([])
    expect(treeIn(repo)).toEqual(tree)
    bench.expectSound(repo)
    bench.expectSound(nested)
    await checkpoints.forget(keeping)
    expect(bench.git(nested, 'for-each-ref', 'refs/oneshot')).toBe('')
  },
)

test('a commit in a nested repository is a change, and one that nobody touches gets no ref', async () => {
  const bench = openGitBench()
  const repo = begin(bench)
  const nested = path.join(repo, plain(bench, repo))
  const checkpoints = bench.checkpoints()
  const keeping = { ...bench.keeping(repo), nested: true }
  await saved(checkpoints.save(keeping, occasion(), NEVER))
  expect(bench.git(nested, 'for-each-ref', 'refs/oneshot')).toBe('')
  put(nested, 'n.txt', 'committed\n')
  commit(bench, nested)
  const made = await saved(checkpoints.save(keeping, occasion(), NEVER))
  const head = bench.git(nested, 'rev-parse', 'HEAD').trim()
  expect(bench.git(repo, 'ls-tree', made.commit, 'in/side')).toContain(head)
})

test('files of a repository that is none any more are saved as files', async () => {
  const bench = openGitBench()
  const repo = begin(bench)
  const nested = path.join(repo, plain(bench, repo))
  const checkpoints = bench.checkpoints()
  const keeping = { ...bench.keeping(repo), nested: true }
  await saved(checkpoints.save(keeping, occasion(), NEVER))
  fs.rmSync(path.join(nested, '.git'), { recursive: true })
  const made = await saved(checkpoints.save(keeping, occasion(), NEVER))
  expect(bench.git(repo, 'ls-tree', '-r', '--name-only', made.commit)).toBe('a.txt\nin/side/n.txt\n')
})

test('files of a worktree that is none any more are saved as files', async () => {
  const bench = openGitBench()
  const repo = begin(bench)
  bench.git(repo, 'worktree', 'add', '--quiet', 'trees/one')
  const checkpoints = bench.checkpoints()
  const keeping = { ...bench.keeping(repo), nested: true }
  await saved(checkpoints.save(keeping, occasion(), NEVER))
  fs.rmSync(path.join(repo, '.git/worktrees'), { recursive: true })
  put(repo, 'trees/one/work.txt', 'work')
  const made = await saved(checkpoints.save(keeping, occasion(), NEVER))
  expect(bench.git(repo, 'ls-tree', '-r', '--name-only', made.commit, 'trees')).toContain('trees/one/work.txt\n')
})

test('a nested repository that is gone, or new since, is told of', async () => {
  const bench = openGitBench()
  const repo = begin(bench)
  const nested = path.join(repo, plain(bench, repo))
  const checkpoints = bench.checkpoints()
  const keeping = { ...bench.keeping(repo), nested: true }
  const first = await saved(checkpoints.save(keeping, occasion(), NEVER))
  fs.rmSync(nested, { recursive: true })
  const second = await saved(checkpoints.save(keeping, occasion(), NEVER))
  expect(await checkpoints.restoreHere(keeping, first, second)).toEqual(['the repository in/side is not restored'])
  plain(bench, repo)
  const third = await saved(checkpoints.save(keeping, occasion(), NEVER))
  expect(await checkpoints.restoreHere(keeping, second, third)).toEqual([
    'the repository in/side did not exist then, and stays',
  ])
  expect(fs.existsSync(path.join(nested, '.git'))).toBe(true)
})

test('work in a worktree of the same repository is pushed with the rest, and comes back from a fresh clone', async () => {
  const bench = openGitBench()
  const repo = begin(bench)
  const remote = bench.repository('remote.git', '--bare')
  bench.git(repo, 'push', '--quiet', remote, 'main')
  bench.git(repo, 'worktree', 'add', '--quiet', 'trees/one')
  put(repo, 'trees/one/work.txt', 'uncommitted')
  const checkpoints = bench.checkpoints()
  const keeping = { ...bench.keeping(repo), nested: true }
  const made = await saved(checkpoints.save(keeping, occasion(), NEVER))
  await checkpoints.push(keeping, remote, bench.env as Record<string, string>, NEVER)
  const clone = path.join(bench.root, 'clone')
  bench.git(bench.root, 'clone', '--quiet', remote, clone)
  await checkpoints.fetch(clone, { remote: 'origin', env: bench.env as Record<string, string> }, all => all, NEVER)
  const worktree = path.join(bench.root, 'beside')
  const there = { ...keeping, cwd: clone }
  expect(await checkpoints.find(clone)).toHaveLength(1)
  expect(await checkpoints.restoreBeside(there, made, { branch: 'back', worktree })).toEqual([])
  expect(treeIn(worktree)).toEqual(treeIn(repo))
})

test('a nested repository of somebody else does not keep the rest from being saved', async ({ skip }) => {
  if (process.getuid?.() !== 0) skip('only root may give files away')
  const bench = openGitBench()
  const repo = begin(bench)
  const nested = path.join(repo, plain(bench, repo))
  fs.chownSync(nested, 12_345, 12_345)
  fs.chownSync(path.join(nested, '.git'), 12_345, 12_345)
  const made = await saved(bench.checkpoints().save({ ...bench.keeping(repo), nested: true }, occasion(), NEVER))
  expect(made.leftOut).toEqual([expect.stringMatching(/^in\/side is a repository that cannot be saved: .*dubious/)])
})
