import path from 'node:path'
import { expect, test } from 'vitest'
import { remoteUrl } from '../../src/world/git/remote-url.ts'
import { openGitBench, put } from './git-bench.ts'

test('where a remote is can be told without git, from any of its worktrees', () => {
  const bench = openGitBench()
  const repo = bench.repository('repo')
  put(repo, 'a', 'a')
  bench.git(repo, 'add', '.')
  bench.git(repo, 'commit', '--quiet', '--message', 'first')
  bench.git(repo, 'remote', 'add', 'origin', 'https://example.com/a.git')
  bench.git(repo, 'remote', 'add', 'near', '../near.git')
  const beside = path.join(bench.root, 'beside')
  bench.git(repo, 'worktree', 'add', '--quiet', beside)
  expect(remoteUrl(repo, 'origin')).toBe('https://example.com/a.git')
  expect(remoteUrl(beside, 'origin')).toBe('https://example.com/a.git')
  expect(remoteUrl(repo, 'near')).toBe(path.join(bench.root, 'near.git'))
  expect([remoteUrl(repo, 'other'), remoteUrl(bench.root, 'origin')]).toEqual([null, null])
})
