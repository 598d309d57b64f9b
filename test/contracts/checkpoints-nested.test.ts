import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { type GitFixture, NEVER, makeCheckpointRequest, openGitFixture, put, savedCheckpoint } from './git-fixture.ts'
import { readTree, readUserState } from './read-tree.ts'

function commit(fixture: GitFixture, repo: string): void {
  fixture.git(repo, 'add', '--all')
  fixture.git(repo, 'commit', '--quiet', '--message', 'more')
}

function begin(fixture: GitFixture): string {
  const repo = fixture.repository('repo')
  put(repo, 'a.txt', 'a\n')
  commit(fixture, repo)
  return repo
}

/** Adds a repository to the working tree; answers its path in it. */
type Builder = (fixture: GitFixture, repo: string) => string

const plain: Builder = (fixture, repo) => {
  const nested = fixture.repository('repo/in/side')
  put(nested, 'n.txt', 'n\n')
  commit(fixture, nested)
  return path.relative(repo, nested)
}

const NESTED: Readonly<Record<string, Builder>> = {
  'a nested repository': plain,
  'a nested repository without a commit': (fixture, repo) => path.relative(repo, fixture.repository('repo/empty')),
  'a repository in a nested repository': (fixture, repo) => {
    const outer = plain(fixture, repo)
    fixture.repository(`repo/${outer}/deeper`)
    return `${outer}/deeper`
  },
  'a submodule': (fixture, repo) => {
    const source = fixture.repository('source')
    put(source, 's.txt', 's\n')
    commit(fixture, source)
    fixture.git(repo, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', source, 'mod ule')
    fixture.git(path.join(repo, 'mod ule'), 'config', 'user.name', 'Somebody')
    fixture.git(path.join(repo, 'mod ule'), 'config', 'user.email', 'somebody@example.org')
    commit(fixture, repo)
    return 'mod ule'
  },
  'a worktree of the same repository': (fixture, repo) => {
    fixture.git(repo, 'worktree', 'add', '--quiet', 'trees/one')
    return 'trees/one'
  },
}

test.each(Object.entries(NESTED))(
  'a checkpoint saves uncommitted work in %s, and restore brings it back',
  async (_, build) => {
    const fixture = openGitFixture()
    const repo = begin(fixture)
    const nested = path.join(repo, build(fixture, repo))
    const checkpoints = fixture.checkpoints()
    const keeping = { ...fixture.checkpointTarget(repo), nested: true }
    put(nested, 'work.txt', 'uncommitted\n')
    put(nested, 'run', 'x', 0o755)
    const tree = readTree(repo)
    const before = readUserState(repo)
    const first = await savedCheckpoint(checkpoints.save(keeping, makeCheckpointRequest(), NEVER))
    expect(first.leftOut).toEqual([])
    expect(readUserState(repo)).toEqual(before)
    expect(await checkpoints.save(keeping, makeCheckpointRequest(), NEVER)).toMatchObject({ isNew: false })

    put(nested, 'work.txt', 'worse\n')
    fs.rmSync(path.join(nested, 'run'))
    put(nested, 'more/stray.txt', 'stray')
    const second = await savedCheckpoint(checkpoints.save(keeping, makeCheckpointRequest(), NEVER))
    expect(second.change, 'what was done inside counts').toEqual({ files: 3, added: 2, removed: 2 })
    const text = await checkpoints.diff(keeping, first.commit, second.commit, { stat: false })
    expect(text).toContain(`+++ b/${path.relative(repo, nested)}/work.txt`)

    const beside = path.join(fixture.root, 'beside')
    expect(await checkpoints.restoreToBranch(keeping, first, { branch: 'back', worktree: beside })).toEqual([])
    expect(readTree(beside)).toEqual(tree)
    expect(await checkpoints.restoreInPlace(keeping, first, second)).toEqual([])
    expect(readTree(repo)).toEqual(tree)
    fixture.expectIntact(repo)
    fixture.expectIntact(nested)
    await checkpoints.removeAll(keeping)
    expect(fixture.git(nested, 'for-each-ref', 'refs/oneshot')).toBe('')
  },
)

test('a checkpoint records a commit in a nested repository, and makes no ref in one that nobody has changed', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const nested = path.join(repo, plain(fixture, repo))
  const checkpoints = fixture.checkpoints()
  const keeping = { ...fixture.checkpointTarget(repo), nested: true }
  await savedCheckpoint(checkpoints.save(keeping, makeCheckpointRequest(), NEVER))
  expect(fixture.git(nested, 'for-each-ref', 'refs/oneshot')).toBe('')
  put(nested, 'n.txt', 'committed\n')
  commit(fixture, nested)
  const made = await savedCheckpoint(checkpoints.save(keeping, makeCheckpointRequest(), NEVER))
  const head = fixture.git(nested, 'rev-parse', 'HEAD').trim()
  expect(fixture.git(repo, 'ls-tree', made.commit, 'in/side')).toContain(head)
})

test('a checkpoint saves the files of a folder that is no nested repository any more', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const nested = path.join(repo, plain(fixture, repo))
  const checkpoints = fixture.checkpoints()
  const keeping = { ...fixture.checkpointTarget(repo), nested: true }
  await savedCheckpoint(checkpoints.save(keeping, makeCheckpointRequest(), NEVER))
  fs.rmSync(path.join(nested, '.git'), { recursive: true })
  const made = await savedCheckpoint(checkpoints.save(keeping, makeCheckpointRequest(), NEVER))
  expect(fixture.git(repo, 'ls-tree', '-r', '--name-only', made.commit)).toBe('a.txt\nin/side/n.txt\n')
})

test('a checkpoint saves the files of a folder that is no worktree any more', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  fixture.git(repo, 'worktree', 'add', '--quiet', 'trees/one')
  const checkpoints = fixture.checkpoints()
  const keeping = { ...fixture.checkpointTarget(repo), nested: true }
  await savedCheckpoint(checkpoints.save(keeping, makeCheckpointRequest(), NEVER))
  fs.rmSync(path.join(repo, '.git/worktrees'), { recursive: true })
  put(repo, 'trees/one/work.txt', 'work')
  const made = await savedCheckpoint(checkpoints.save(keeping, makeCheckpointRequest(), NEVER))
  expect(fixture.git(repo, 'ls-tree', '-r', '--name-only', made.commit, 'trees')).toContain('trees/one/work.txt\n')
})

test('restore names a nested repository that was removed or made since the checkpoint', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const nested = path.join(repo, plain(fixture, repo))
  const checkpoints = fixture.checkpoints()
  const keeping = { ...fixture.checkpointTarget(repo), nested: true }
  const first = await savedCheckpoint(checkpoints.save(keeping, makeCheckpointRequest(), NEVER))
  fs.rmSync(nested, { recursive: true })
  const second = await savedCheckpoint(checkpoints.save(keeping, makeCheckpointRequest(), NEVER))
  expect(await checkpoints.restoreInPlace(keeping, first, second)).toEqual(['the repository in/side is not restored'])
  plain(fixture, repo)
  const third = await savedCheckpoint(checkpoints.save(keeping, makeCheckpointRequest(), NEVER))
  expect(await checkpoints.restoreInPlace(keeping, second, third)).toEqual([
    'the repository in/side did not exist then, and stays',
  ])
  expect(fs.existsSync(path.join(nested, '.git'))).toBe(true)
})

test('a push contains work in a worktree of the same repository, and a fresh clone can restore it', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const remote = fixture.repository('remote.git', '--bare')
  fixture.git(repo, 'push', '--quiet', remote, 'main')
  fixture.git(repo, 'worktree', 'add', '--quiet', 'trees/one')
  put(repo, 'trees/one/work.txt', 'uncommitted')
  const checkpoints = fixture.checkpoints()
  const keeping = { ...fixture.checkpointTarget(repo), nested: true }
  const made = await savedCheckpoint(checkpoints.save(keeping, makeCheckpointRequest(), NEVER))
  await checkpoints.push(keeping, remote, fixture.env as Record<string, string>, NEVER)
  const clone = path.join(fixture.root, 'clone')
  fixture.git(fixture.root, 'clone', '--quiet', remote, clone)
  await checkpoints.fetch(clone, { remote: 'origin', env: fixture.env as Record<string, string> }, all => all, NEVER)
  const worktree = path.join(fixture.root, 'beside')
  const there = { ...keeping, cwd: clone }
  expect(await checkpoints.findSessions(clone)).toHaveLength(1)
  expect(await checkpoints.restoreToBranch(there, made, { branch: 'back', worktree })).toEqual([])
  expect(readTree(worktree)).toEqual(readTree(repo))
})

test('a checkpoint saves the rest if a nested repository belongs to another user', async ({ skip }) => {
  if (process.getuid?.() !== 0) skip('only root may give files away')
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const nested = path.join(repo, plain(fixture, repo))
  fs.chownSync(nested, 12_345, 12_345)
  fs.chownSync(path.join(nested, '.git'), 12_345, 12_345)
  const made = await savedCheckpoint(
    fixture.checkpoints().save({ ...fixture.checkpointTarget(repo), nested: true }, makeCheckpointRequest(), NEVER),
  )
  expect(made.leftOut).toEqual([expect.stringMatching(/^in\/side is a repository that cannot be saved: .*dubious/)])
})
