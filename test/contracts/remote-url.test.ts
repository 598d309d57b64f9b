import path from 'node:path'
import { expect, test } from 'vitest'
import { remoteUrl } from '../../src/world/git/checkpoint/remote/remote-url.ts'
import { openGitFixture, put } from './git-fixture.ts'

test('oneshot finds the address of a remote without git, from any worktree', () => {
  const fixture = openGitFixture()
  const repo = fixture.repository('repo')
  put(repo, 'a', 'a')
  fixture.git(repo, 'add', '.')
  fixture.git(repo, 'commit', '--quiet', '--message', 'first')
  fixture.git(repo, 'remote', 'add', 'origin', 'https://example.com/a.git')
  fixture.git(repo, 'remote', 'add', 'near', '../near.git')
  const beside = path.join(fixture.root, 'beside')
  fixture.git(repo, 'worktree', 'add', '--quiet', beside)
  expect(remoteUrl(repo, 'origin')).toBe('https://example.com/a.git')
  expect(remoteUrl(beside, 'origin')).toBe('https://example.com/a.git')
  expect(remoteUrl(repo, 'near')).toBe(path.join(fixture.root, 'near.git'))
  expect([remoteUrl(repo, 'other'), remoteUrl(fixture.root, 'origin')]).toEqual([null, null])
})
