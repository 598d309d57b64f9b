import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { type GitFixture, NEVER, makeCheckpointRequest, openGitFixture, put, savedCheckpoint } from './git-fixture.ts'
import { readUserState } from './read-tree.ts'

const visibly = makeCheckpointRequest({ isVisible: true, at: new Date(2027, 0, 15, 9, 5).getTime() })

function begin(fixture: GitFixture): string {
  const repo = fixture.repository('repo')
  put(repo, 'a.txt', 'a\n')
  put(repo, '.gitignore', 'ignored\n')
  fixture.git(repo, 'add', '.')
  fixture.git(repo, 'commit', '--quiet', '--message', 'first')
  put(repo, 'a.txt', 'b\n')
  put(repo, 'new.txt', 'new\n')
  put(repo, 'ignored', 'x')
  return repo
}

test('branch mode commits every change on the branch, and updates the index', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  for (const hook of ['pre-commit', 'commit-msg', 'post-commit', 'reference-transaction', 'post-index-change']) {
    put(repo, `.git/hooks/${hook}`, `#!/bin/sh\necho ran >> ${fixture.root}/hooks\n`, 0o755)
  }
  const checkpoints = fixture.checkpoints()
  const target = fixture.checkpointTarget(repo)
  const made = await savedCheckpoint(checkpoints.save(target, visibly, NEVER))
  expect(fs.existsSync(path.join(fixture.root, 'hooks'))).toBe(false)
  expect(fixture.git(repo, 'log', '-1', '--format=%s %an %D')).toBe('WIP: checkpoint 0905 Somebody HEAD -> main\n')
  expect(fixture.git(repo, 'status', '--porcelain')).toBe('')
  expect(fixture.git(repo, 'show', '--format=', '--name-only', 'HEAD')).toBe('a.txt\nnew.txt\n')
  expect(made).toMatchObject({ head: fixture.git(repo, 'rev-parse', 'HEAD').trim(), leftOut: [] })
  expect(fixture.git(repo, 'reflog', '-1', '--format=%gs')).toBe('commit: WIP: checkpoint 0905\n')
  expect(await checkpoints.save(target, visibly, NEVER), 'our own commit is no change').toMatchObject({ isNew: false })
  fixture.expectIntact(repo)
})

test('branch mode makes a first commit for a user without a name', async () => {
  const fixture = openGitFixture()
  const repo = fixture.repository('repo')
  fixture.git(repo, 'config', '--unset', 'user.name')
  fixture.git(repo, 'config', 'user.useConfigOnly', 'true')
  put(repo, 'a.txt', 'a')
  await savedCheckpoint(fixture.checkpoints().save(fixture.checkpointTarget(repo), visibly, NEVER))
  expect(fixture.git(repo, 'log', '--format=%s %an', 'main')).toBe('WIP: checkpoint 0905 oneshot\n')
  expect(fixture.git(repo, 'status', '--porcelain')).toBe('')
})

const NOT_NOW: Readonly<Record<string, { begin: (fixture: GitFixture, repo: string) => void; says: string }>> = {
  'no branch': {
    begin: (fixture, repo) => fixture.git(repo, 'checkout', '--quiet', '--detach'),
    says: 'no branch is checked out',
  },
  'a merge': { begin: (_, repo) => put(repo, '.git/MERGE_HEAD', ''), says: 'a merge is under way' },
  'a rebase': { begin: (_, repo) => put(repo, '.git/rebase-merge/done', ''), says: 'a rebase is under way' },
  'a cherry-pick': { begin: (_, repo) => put(repo, '.git/CHERRY_PICK_HEAD', ''), says: 'a cherry-pick is under way' },
  'a bisection': { begin: (_, repo) => put(repo, '.git/BISECT_LOG', ''), says: 'a bisection is under way' },
  'a file that is staged and too large': {
    begin: (fixture, repo) => {
      put(repo, 'large.bin', 'x'.repeat(5000))
      fixture.git(repo, 'add', 'large.bin')
    },
    says: 'large.bin is staged, and is not part of the checkpoint',
  },
  'an ignored file that is staged by force': {
    begin: (fixture, repo) => fixture.git(repo, 'add', '--force', 'ignored'),
    says: 'ignored is staged, and is not part of the checkpoint',
  },
  'an index that is held': {
    begin: (_, repo) => put(repo, '.git/index.lock', ''),
    says: 'the index is locked by another git process',
  },
}

test.each(Object.entries(NOT_NOW))(
  'branch mode makes a checkpoint and no visible commit: %s',
  async (_, { begin: wait, says }) => {
    const fixture = openGitFixture()
    const repo = begin(fixture)
    const checkpoints = fixture.checkpoints({ maxFileSize: 2048 })
    const target = fixture.checkpointTarget(repo)
    await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
    wait(fixture, repo)
    put(repo, 'a.txt', 'c\n')
    const before = readUserState(repo)
    const { leftOut } = await savedCheckpoint(checkpoints.save(target, visibly, NEVER))
    expect(leftOut[0]).toBe(`there is no visible commit: ${says}`)
    expect(readUserState(repo)).toEqual(before)
  },
)

test('branch mode commits nothing if nothing changed', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  fixture.git(repo, 'add', '.')
  fixture.git(repo, 'commit', '--quiet', '--message', 'all of it')
  const before = readUserState(repo)
  expect(
    await savedCheckpoint(fixture.checkpoints().save(fixture.checkpointTarget(repo), visibly, NEVER)),
  ).toMatchObject({ leftOut: [] })
  expect(readUserState(repo)).toEqual(before)
})

test('branch mode removes its own old lock of the index, and no lock of others', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const target = fixture.checkpointTarget(repo)
  const draft = path.join(repo, `.git/index.oneshot-${target.sessionId}-dead`)
  fs.copyFileSync(path.join(repo, '.git/index'), draft)
  fs.linkSync(draft, path.join(repo, '.git/index.lock'))
  const made = await savedCheckpoint(fixture.checkpoints().save(target, visibly, NEVER))
  expect(made.leftOut).toEqual([])
  expect(fs.readdirSync(path.join(repo, '.git')).filter(name => name.startsWith('index'))).toEqual(['index'])
  expect(fixture.git(repo, 'log', '-1', '--format=%s')).toBe('WIP: checkpoint 0905\n')
})

test('branch mode updates the index the next time after a kill that followed the move of HEAD', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const target = fixture.checkpointTarget(repo)
  const index = path.join(repo, '.git/index')
  const before = fs.readFileSync(index)
  await savedCheckpoint(fixture.checkpoints().save(target, visibly, NEVER))
  const draft = `${index}.oneshot-${target.sessionId}-dead`
  fs.renameSync(index, draft)
  fs.linkSync(draft, `${index}.lock`)
  fs.writeFileSync(index, before)
  expect(fixture.git(repo, 'diff', '--cached', '--name-only')).toBe('a.txt\nnew.txt\n')
  await fixture.checkpoints().save(target, makeCheckpointRequest(), NEVER)
  expect(fixture.git(repo, 'status', '--porcelain')).toBe('')
  expect(fs.readdirSync(path.join(repo, '.git')).filter(name => name.startsWith('index'))).toEqual(['index'])
})
