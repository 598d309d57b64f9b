import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { GitCheckpoints } from '../../src/world/git/git-checkpoints.ts'
import { which } from '../../src/world/os/which.ts'
import { type GitBench, NEVER, occasion, openGitBench, put, saved } from '../contracts/git-bench.ts'

function commitAll(bench: GitBench, repo: string): void {
  bench.git(repo, 'add', '--all')
  bench.git(repo, 'commit', '--quiet', '--message', 'all')
}

/** A repository with another one in it that nobody but its place connects with it. */
function begin(bench: GitBench): { repo: string; inner: string } {
  const repo = bench.repository('repo')
  put(repo, 'a.txt', 'a\n')
  commitAll(bench, repo)
  const inner = bench.repository('repo/inner')
  put(inner, 'n.txt', 'n\n')
  commitAll(bench, inner)
  return { repo, inner }
}

/** Checkpoints by a git that notes down the folders that it runs in. */
function watched(bench: GitBench): { checkpoints: GitCheckpoints; folders: () => Set<string> } {
  const [bin, log] = [path.join(bench.root, 'bin'), path.join(bench.root, 'folders')]
  put(bin, 'git', `#!/bin/sh\npwd >> '${log}'\nexec '${which('git', bench.env, '/')}' "$@"\n`, 0o755)
  const env = { ...bench.env, PATH: `${bin}:${bench.env['PATH']}` }
  return { checkpoints: bench.checkpoints({ env }), folders: () => new Set(fs.readFileSync(log, 'utf8').split('\n')) }
}

test('git is not run in another repository by any later checkpoint, a diff, a restore or a removal either', async () => {
  const bench = openGitBench()
  const { repo, inner } = begin(bench)
  const keeping = bench.keeping(repo)
  const { checkpoints, folders } = watched(bench)
  const first = await saved(checkpoints.save(keeping, occasion(), NEVER))
  put(inner, 'n.txt', 'changed\n')
  put(repo, 'a.txt', 'changed\n')
  const second = await saved(checkpoints.save(keeping, occasion(), NEVER))
  commitAll(bench, inner)
  put(inner, 'm.txt', 'uncommitted\n')
  const refs = bench.git(inner, 'for-each-ref')
  put(repo, 'a.txt', 'changed again\n')
  const third = await saved(checkpoints.save(keeping, occasion(), NEVER))
  const sentence = 'inner is another repository, and oneshot records only its HEAD (nested = true saves it)'
  for (const { leftOut } of [second, third]) expect(leftOut).toEqual([sentence])
  expect(await checkpoints.diff(keeping, first.commit, third.commit, { stat: false, colour: false })).toContain('again')
  expect(await checkpoints.restoreHere(keeping, first, third)).toEqual([
    'the repository inner is not restored',
    `${sentence}, and stays as it is`,
  ])
  const worktree = path.join(bench.root, 'beside')
  expect(await checkpoints.restoreBeside(keeping, first, { branch: 'beside', worktree })).toEqual([
    'the repository inner is not restored',
  ])
  await checkpoints.forget(keeping)
  expect(fs.readFileSync(path.join(repo, 'a.txt'), 'utf8')).toBe('a\n')
  expect(fs.readFileSync(path.join(inner, 'm.txt'), 'utf8')).toBe('uncommitted\n')
  expect(bench.git(inner, 'for-each-ref')).toBe(refs)
  expect(folders()).toContain(repo)
  expect(folders()).not.toContain(inner)
})

test.each(['a repository of its own', 'a worktree', 'a submodule'])(
  'a restore does not remove %s that lies where a file was',
  async kind => {
    const bench = openGitBench()
    const repo = bench.repository('repo')
    put(repo, 'inner', 'a file\n')
    commitAll(bench, repo)
    const keeping = { ...bench.keeping(repo), nested: true }
    const checkpoints = bench.checkpoints()
    const first = await saved(checkpoints.save(keeping, occasion(), NEVER))
    bench.git(repo, 'rm', '--quiet', 'inner')
    bench.git(repo, 'commit', '--quiet', '--message', 'without')
    const inner = path.join(repo, 'inner')
    if (kind === 'a worktree') bench.git(repo, 'worktree', 'add', '--quiet', inner)
    else bench.repository('repo/inner')
    put(inner, 'n.txt', 'n\n')
    commitAll(bench, inner)
    if (kind === 'a submodule') commitAll(bench, repo)
    put(inner, 'm.txt', 'uncommitted\n')
    await checkpoints.save(keeping, occasion(), NEVER)
    put(repo, 'b.txt', 'b\n')
    const last = await saved(checkpoints.save(keeping, occasion(), NEVER))
    expect(bench.git(repo, 'ls-tree', last.commit, 'inner')).toContain('160000 commit')
    await expect(checkpoints.restoreHere(keeping, first, last)).rejects.toThrow(
      'inner would be lost, which is a repository and not saved',
    )
    expect(fs.readFileSync(path.join(inner, 'm.txt'), 'utf8')).toBe('uncommitted\n')
    expect(bench.git(inner, 'log', '-1', '--format=%s')).toBe('all\n')
  },
)
