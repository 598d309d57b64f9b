import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { Unkept } from '../../src/ports/checkpoints.ts'
import { type GitBench, NEVER, occasion, openGitBench, put, saved } from './git-bench.ts'

const PLACES: Readonly<Record<string, { build: (bench: GitBench) => string; says: RegExp }>> = {
  'no repository': { build: bench => bench.root, says: /^\/.* is not in a git repository$/ },
  'a folder that is gone': { build: bench => path.join(bench.root, 'gone'), says: /gone does not exist$/ },
  'a bare repository': { build: bench => bench.repository('bare.git', '--bare'), says: /bare/ },
  'the inside of .git': {
    build: bench => path.join(bench.repository('repo'), '.git', 'refs'),
    says: /not in a working tree/,
  },
  'a working tree that lies elsewhere': {
    build: bench => {
      const repo = bench.repository('repo')
      put(repo, 'src/a.txt', 'a')
      bench.git(repo, 'config', 'core.worktree', '../src')
      return path.join(repo, 'src')
    },
    says: /^its working tree is not where its repository is$/,
  },
  'a repository of somebody else': {
    build: bench => {
      const repo = bench.repository('repo')
      fs.chownSync(repo, 12_345, 12_345)
      fs.chownSync(path.join(repo, '.git'), 12_345, 12_345)
      return repo
    },
    says: /dubious ownership/,
  },
}

test.skipIf(process.getuid?.() !== 0).each(Object.entries(PLACES))(
  '%s: it says why nothing is saved',
  async (_, place) => {
    const bench = openGitBench()
    const keeping = bench.keeping(place.build(bench))
    const error = await bench
      .checkpoints()
      .save(keeping, occasion(), NEVER)
      .catch((cause: unknown) => cause)
    expect(error).toBeInstanceOf(Unkept)
    expect((error as Error).message).toMatch(place.says)
  },
)

test('without git nothing is saved, and with it again it is', async () => {
  const bench = openGitBench()
  const keeping = bench.keeping(bench.repository('repo'))
  const env: NodeJS.ProcessEnv = { ...bench.env, PATH: '/nowhere' }
  const checkpoints = bench.checkpoints({ env })
  await expect(checkpoints.save(keeping, occasion(), NEVER)).rejects.toThrow(
    new Unkept('git is not installed, or not on PATH'),
  )
  env['PATH'] = bench.env['PATH']
  expect(await checkpoints.save(keeping, occasion(), NEVER)).toMatchObject({ isNew: true })
})

test('a repository that is replaced by another is saved as what it is', async () => {
  const bench = openGitBench()
  const repo = bench.repository('repo')
  const checkpoints = bench.checkpoints()
  const keeping = bench.keeping(repo)
  put(repo, 'a.txt', 'a')
  await checkpoints.save(keeping, occasion(), NEVER)
  fs.rmSync(path.join(repo, '.git'), { recursive: true })
  await expect(checkpoints.save(keeping, occasion(), NEVER)).rejects.toThrow(Unkept)
  bench.git(repo, 'init', '--quiet')
  expect(await checkpoints.save(keeping, occasion(), NEVER)).toMatchObject({
    checkpoint: { number: 1, change: { files: 1 } },
  })
  bench.expectSound(repo)
})

test('a session whose folder was removed is still saved, because its repository is there', async () => {
  const bench = openGitBench()
  const repo = bench.repository('repo')
  put(repo, 'deep/down/a.txt', 'a')
  const keeping = bench.keeping(path.join(repo, 'deep', 'down'))
  const first = await saved(bench.checkpoints().save(keeping, occasion(), NEVER))
  fs.rmSync(path.join(repo, 'deep'), { recursive: true })
  const again = bench.checkpoints()
  const over = await saved(again.save(keeping, occasion(), NEVER))
  expect(over.change).toEqual({ files: 1, added: 0, removed: 1 })
  await again.restoreHere(keeping, first, over)
  expect(fs.readFileSync(path.join(repo, 'deep/down/a.txt'), 'utf8')).toBe('a')
})
