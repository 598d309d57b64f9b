import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { type GitFixture, NEVER, makeCheckpointRequest, openGitFixture, put, savedCheckpoint } from './git-fixture.ts'

function begin(fixture: GitFixture): string {
  const repo = fixture.repository('repo')
  put(repo, 'a.txt', 'a\n')
  fixture.git(repo, 'add', '--all')
  fixture.git(repo, 'commit', '--quiet', '--message', 'first')
  return repo
}

test('a checkpoint contains a file that the user told git to skip, even if it was missing at first', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  fixture.git(repo, 'update-index', '--skip-worktree', 'a.txt')
  fs.rmSync(path.join(repo, 'a.txt'))
  const checkpoints = fixture.checkpoints()
  const target = fixture.checkpointTarget(repo)
  await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  put(repo, 'a.txt', 'work')
  const made = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  expect(fixture.git(repo, 'show', `${made.commit}:a.txt`)).toBe('work')
})

test('a checkpoint contains no ignored file unless somebody added it by force', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const checkpoints = fixture.checkpoints()
  const target = fixture.checkpointTarget(repo)
  const filesAfter = async (): Promise<string> =>
    fixture.git(
      repo,
      'ls-tree',
      '-r',
      '--name-only',
      (await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))).commit,
    )
  put(repo, 'lib/x.js', 'x')
  expect(await filesAfter()).toContain('lib/x.js')
  put(repo, '.gitignore', 'lib/\nforced.txt\n')
  expect(await filesAfter(), 'saved before it was ignored').not.toContain('lib/x.js')
  put(repo, 'forced.txt', 'f')
  expect(await checkpoints.save(target, makeCheckpointRequest(), NEVER)).toMatchObject({ isNew: false })
  fixture.git(repo, 'add', '--force', 'forced.txt')
  fixture.git(repo, 'commit', '--quiet', '--message', 'forced', 'forced.txt')
  expect(await filesAfter()).toContain('forced.txt')
  fs.rmSync(path.join(repo, 'forced.txt'))
  expect(await filesAfter()).not.toContain('forced.txt')
  put(repo, 'a.txt', 'and something else')
  expect(await filesAfter()).not.toContain('forced.txt')
  put(repo, 'forced.txt', 'made again')
  expect(await filesAfter(), 'HEAD still has it').toContain('forced.txt')
  fixture.git(repo, 'rm', '--quiet', '--cached', 'forced.txt')
  fixture.git(repo, 'commit', '--quiet', '--message', 'not any more')
  expect(await filesAfter()).not.toContain('forced.txt')
  put(repo, 'cache/x', 'x')
  expect(await filesAfter()).toContain('cache/x')
  put(repo, 'cache/.gitignore', '*\n')
  expect(await filesAfter(), 'by a rule that ignores itself').not.toContain('cache/x')
  put(repo, '.env', 'e')
  expect(await filesAfter()).toContain('.env')
  put(fixture.root, 'rules', '.env\n')
  fixture.git(repo, 'config', 'core.excludesFile', path.join(fixture.root, 'rules'))
  expect(await filesAfter(), 'by a rule that lies anywhere').not.toContain('.env')
  put(repo, '.git/info/exclude', 'private.txt\n')
  put(repo, 'private.txt', 'p')
  expect(await checkpoints.save(target, makeCheckpointRequest(), NEVER)).toMatchObject({ isNew: false })
})
