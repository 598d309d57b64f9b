import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { type GitBench, NEVER, occasion, openGitBench, put, saved } from './git-bench.ts'

function begin(bench: GitBench): string {
  const repo = bench.repository('repo')
  put(repo, 'a.txt', 'a\n')
  bench.git(repo, 'add', '--all')
  bench.git(repo, 'commit', '--quiet', '--message', 'first')
  return repo
}

test('a file that git was told not to look at is saved, also when it was not there at first', async () => {
  const bench = openGitBench()
  const repo = begin(bench)
  bench.git(repo, 'update-index', '--skip-worktree', 'a.txt')
  fs.rmSync(path.join(repo, 'a.txt'))
  const checkpoints = bench.checkpoints()
  const keeping = bench.keeping(repo)
  await saved(checkpoints.save(keeping, occasion(), NEVER))
  put(repo, 'a.txt', 'work')
  const made = await saved(checkpoints.save(keeping, occasion(), NEVER))
  expect(bench.git(repo, 'show', `${made.commit}:a.txt`)).toBe('work')
})

test('what is ignored is not saved, unless somebody has added it by force', async () => {
  const bench = openGitBench()
  const repo = begin(bench)
  const checkpoints = bench.checkpoints()
  const keeping = bench.keeping(repo)
  const filesAfter = async (): Promise<string> =>
    bench.git(repo, 'ls-tree', '-r', '--name-only', (await saved(checkpoints.save(keeping, occasion(), NEVER))).commit)
  put(repo, 'lib/x.js', 'x')
  expect(await filesAfter()).toContain('lib/x.js')
  put(repo, '.gitignore', 'lib/\nforced.txt\n')
  expect(await filesAfter(), 'saved before it was ignored').not.toContain('lib/x.js')
  put(repo, 'forced.txt', 'f')
  expect(await checkpoints.save(keeping, occasion(), NEVER)).toMatchObject({ isNew: false })
  bench.git(repo, 'add', '--force', 'forced.txt')
  bench.git(repo, 'commit', '--quiet', '--message', 'forced', 'forced.txt')
  expect(await filesAfter()).toContain('forced.txt')
  fs.rmSync(path.join(repo, 'forced.txt'))
  expect(await filesAfter()).not.toContain('forced.txt')
  put(repo, 'a.txt', 'and something else')
  expect(await filesAfter()).not.toContain('forced.txt')
  put(repo, 'forced.txt', 'made again')
  expect(await filesAfter(), 'HEAD still has it').toContain('forced.txt')
  bench.git(repo, 'rm', '--quiet', '--cached', 'forced.txt')
  bench.git(repo, 'commit', '--quiet', '--message', 'not any more')
  expect(await filesAfter()).not.toContain('forced.txt')
  put(repo, 'cache/x', 'x')
  expect(await filesAfter()).toContain('cache/x')
  put(repo, 'cache/.gitignore', '*\n')
  expect(await filesAfter(), 'by a rule that ignores itself').not.toContain('cache/x')
  put(repo, '.env', 'e')
  expect(await filesAfter()).toContain('.env')
  put(bench.root, 'rules', '.env\n')
  bench.git(repo, 'config', 'core.excludesFile', path.join(bench.root, 'rules'))
  expect(await filesAfter(), 'by a rule that lies anywhere').not.toContain('.env')
  put(repo, '.git/info/exclude', 'private.txt\n')
  put(repo, 'private.txt', 'p')
  expect(await checkpoints.save(keeping, occasion(), NEVER)).toMatchObject({ isNew: false })
})
