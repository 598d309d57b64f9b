import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { GitCheckpoints } from '../../src/world/git/checkpoint/git-checkpoints.ts'
import { which } from '../../src/os/which.ts'
import {
  type GitFixture,
  NEVER,
  makeCheckpointRequest,
  openGitFixture,
  put,
  savedCheckpoint,
} from '../contracts/git-fixture.ts'

function commitAll(fixture: GitFixture, repo: string): void {
  fixture.git(repo, 'add', '--all')
  fixture.git(repo, 'commit', '--quiet', '--message', 'all')
}

/** A repository with another one in it that nobody but its place connects with it. */
function begin(fixture: GitFixture): { repo: string; inner: string } {
  const repo = fixture.repository('repo')
  put(repo, 'a.txt', 'a\n')
  commitAll(fixture, repo)
  const inner = fixture.repository('repo/inner')
  put(inner, 'n.txt', 'n\n')
  commitAll(fixture, inner)
  return { repo, inner }
}

/** Checkpoints by a git that notes down the folders that it runs in. */
function watched(fixture: GitFixture): { checkpoints: GitCheckpoints; folders: () => Set<string> } {
  const [bin, log] = [path.join(fixture.root, 'bin'), path.join(fixture.root, 'folders')]
  put(bin, 'git', `#!/bin/sh\npwd >> '${log}'\nexec '${which('git', fixture.env, '/')}' "$@"\n`, 0o755)
  const env = { ...fixture.env, PATH: `${bin}:${fixture.env['PATH']}` }
  return { checkpoints: fixture.checkpoints({ env }), folders: () => new Set(fs.readFileSync(log, 'utf8').split('\n')) }
}

test('checkpoints, diffs, restores and removals never run git in a nested repository that oneshot does not save', async () => {
  const fixture = openGitFixture()
  const { repo, inner } = begin(fixture)
  const keeping = fixture.checkpointTarget(repo)
  const { checkpoints, folders } = watched(fixture)
  const first = await savedCheckpoint(checkpoints.save(keeping, makeCheckpointRequest(), NEVER))
  put(inner, 'n.txt', 'changed\n')
  put(repo, 'a.txt', 'changed\n')
  const second = await savedCheckpoint(checkpoints.save(keeping, makeCheckpointRequest(), NEVER))
  commitAll(fixture, inner)
  put(inner, 'm.txt', 'uncommitted\n')
  const refs = fixture.git(inner, 'for-each-ref')
  put(repo, 'a.txt', 'changed again\n')
  const third = await savedCheckpoint(checkpoints.save(keeping, makeCheckpointRequest(), NEVER))
  const sentence = 'inner is another repository, and oneshot records only its HEAD (nested = true saves it)'
  for (const { leftOut } of [second, third]) expect(leftOut).toEqual([sentence])
  expect(await checkpoints.diff(keeping, first.commit, third.commit, { stat: false })).toContain('again')
  expect(await checkpoints.restoreInPlace(keeping, first, third)).toEqual([
    'the repository inner is not restored',
    `${sentence}, and stays as it is`,
  ])
  const worktree = path.join(fixture.root, 'beside')
  expect(await checkpoints.restoreToBranch(keeping, first, { branch: 'beside', worktree })).toEqual([
    'the repository inner is not restored',
  ])
  await checkpoints.removeAll(keeping)
  expect(fs.readFileSync(path.join(repo, 'a.txt'), 'utf8')).toBe('a\n')
  expect(fs.readFileSync(path.join(inner, 'm.txt'), 'utf8')).toBe('uncommitted\n')
  expect(fixture.git(inner, 'for-each-ref')).toBe(refs)
  expect(folders()).toContain(repo)
  expect(folders()).not.toContain(inner)
})

test.each(['a repository of its own', 'a worktree', 'a submodule'])(
  'a restore does not remove %s that lies where a file was',
  async kind => {
    const fixture = openGitFixture()
    const repo = fixture.repository('repo')
    put(repo, 'inner', 'a file\n')
    commitAll(fixture, repo)
    const keeping = { ...fixture.checkpointTarget(repo), nested: true }
    const checkpoints = fixture.checkpoints()
    const first = await savedCheckpoint(checkpoints.save(keeping, makeCheckpointRequest(), NEVER))
    fixture.git(repo, 'rm', '--quiet', 'inner')
    fixture.git(repo, 'commit', '--quiet', '--message', 'without')
    const inner = path.join(repo, 'inner')
    if (kind === 'a worktree') fixture.git(repo, 'worktree', 'add', '--quiet', inner)
    else fixture.repository('repo/inner')
    put(inner, 'n.txt', 'n\n')
    commitAll(fixture, inner)
    if (kind === 'a submodule') commitAll(fixture, repo)
    put(inner, 'm.txt', 'uncommitted\n')
    await checkpoints.save(keeping, makeCheckpointRequest(), NEVER)
    put(repo, 'b.txt', 'b\n')
    const last = await savedCheckpoint(checkpoints.save(keeping, makeCheckpointRequest(), NEVER))
    expect(fixture.git(repo, 'ls-tree', last.commit, 'inner')).toContain('160000 commit')
    await expect(checkpoints.restoreInPlace(keeping, first, last)).rejects.toThrow(
      'inner would be lost, which is a repository and not saved',
    )
    expect(fs.readFileSync(path.join(inner, 'm.txt'), 'utf8')).toBe('uncommitted\n')
    expect(fixture.git(inner, 'log', '-1', '--format=%s')).toBe('all\n')
  },
)
