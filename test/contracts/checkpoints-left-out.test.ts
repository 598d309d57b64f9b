import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { Checkpoint } from '../../src/core/checkpoint.ts'
import { type GitBench, NEVER, occasion, openGitBench, put, saved } from './git-bench.ts'

const filesOf = (bench: GitBench, repo: string, { commit }: Checkpoint): string[] =>
  bench.git(repo, 'ls-tree', '-r', '--name-only', commit).trim().split('\n')

function begin(bench: GitBench): string {
  const repo = bench.repository('repo')
  put(repo, 'a.txt', 'a\n')
  bench.git(repo, 'add', '.')
  bench.git(repo, 'commit', '--quiet', '--message', 'first')
  return repo
}

test('a file that is too large is left out with a note, and stays as it was saved while it was not', async () => {
  const bench = openGitBench()
  const repo = begin(bench)
  const checkpoints = bench.checkpoints({ largest: 2048 })
  const keeping = bench.keeping(repo)
  put(repo, 'grows.txt', 'small')
  put(repo, 'huge.bin', Buffer.alloc(5000))
  const first = await saved(checkpoints.save(keeping, occasion(), NEVER))
  expect(first.leftOut).toEqual(['huge.bin has 4.9 KB, which is more than 2 KB'])
  expect(filesOf(bench, repo, first)).toEqual(['a.txt', 'grows.txt'])
  put(repo, 'grows.txt', 'x'.repeat(3000))
  put(repo, 'a.txt', 'b\n')
  const second = await saved(checkpoints.save(keeping, occasion(), NEVER))
  expect(second.leftOut).toHaveLength(2)
  expect(bench.git(repo, 'show', `${second.commit}:grows.txt`)).toBe('small')
  expect(await checkpoints.save(keeping, occasion(), NEVER), 'nothing that could be saved has changed').toMatchObject({
    isNew: false,
  })
  put(repo, 'a.txt', 'c\n')
  const third = await saved(checkpoints.save(keeping, occasion(), NEVER))
  expect(await checkpoints.restoreHere(keeping, first, third)).toEqual([])
  expect(fs.readFileSync(path.join(repo, 'a.txt'), 'utf8')).toBe('a\n')
  expect(fs.statSync(path.join(repo, 'grows.txt')).size, 'what was left out is not touched').toBe(3000)
})

test('many notes are told briefly', async () => {
  const bench = openGitBench()
  const repo = begin(bench)
  for (let n = 0; n < 9; n++) put(repo, `big${n}`, 'x'.repeat(100))
  const { leftOut } = await saved(bench.checkpoints({ largest: 50 }).save(bench.keeping(repo), occasion(), NEVER))
  expect(leftOut).toEqual([...[0, 1, 2, 3].map(n => `big${n} has 100 B, which is more than 50 B`), 'and 5 more'])
})

test('a filter that fails spoils only the files that need it', async () => {
  const bench = openGitBench()
  const repo = begin(bench)
  bench.git(repo, 'config', 'filter.strict.clean', 'false')
  bench.git(repo, 'config', 'filter.strict.required', 'true')
  put(repo, '.gitattributes', '*.dat filter=strict\n')
  for (let n = 0; n < 60; n++) put(repo, `data/${n}.dat`, `${n}`)
  put(repo, '-z\n.txt', 'z')
  put(repo, 'zz.txt', 'zz')
  const made = await saved(bench.checkpoints().save(bench.keeping(repo), occasion(), NEVER))
  expect(made.leftOut).toEqual([expect.stringMatching(/^data\/0\.dat and 59 more cannot be read by git: .*filter/)])
  expect(filesOf(bench, repo, made)).toEqual(['"-z\\n.txt"', '.gitattributes', 'a.txt', 'zz.txt'])
})

test('what is neither a file nor a link is left out', async () => {
  const bench = openGitBench()
  const repo = begin(bench)
  fs.rmSync(path.join(repo, 'a.txt'))
  spawnSync('mkfifo', [path.join(repo, 'a.txt'), path.join(repo, 'pipe')])
  put(repo, 'b.txt', 'b')
  const made = await saved(bench.checkpoints().save(bench.keeping(repo), occasion(), NEVER))
  expect(filesOf(bench, repo, made)).toContain('b.txt')
  expect(made.leftOut.filter(sentence => !sentence.startsWith('a.txt'))).toEqual([])
})

test('an unmerged file that cannot be saved does not keep the others from it', async () => {
  const bench = openGitBench()
  const repo = begin(bench)
  bench.git(repo, 'checkout', '--quiet', '-b', 'other')
  put(repo, 'a.txt', 'theirs')
  bench.git(repo, 'commit', '--quiet', '--all', '--message', 'theirs')
  bench.git(repo, 'checkout', '--quiet', 'main')
  put(repo, 'a.txt', 'ours')
  bench.git(repo, 'commit', '--quiet', '--all', '--message', 'ours')
  expect(() => bench.git(repo, 'merge', 'other')).toThrow()
  put(repo, 'a.txt', 'x'.repeat(100))
  put(repo, 'b.txt', 'b')
  const made = await saved(bench.checkpoints({ largest: 50 }).save(bench.keeping(repo), occasion(), NEVER))
  expect(made.leftOut).toEqual(['a.txt has 100 B, which is more than 50 B'])
  expect(filesOf(bench, repo, made)).toEqual(['b.txt'])
})
