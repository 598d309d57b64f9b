import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { NotSaved } from '../../src/ports/checkpoints.ts'
import { type GitFixture, NEVER, makeCheckpointRequest, openGitFixture, put, savedCheckpoint } from './git-fixture.ts'

const PLACES: Readonly<Record<string, { build: (fixture: GitFixture) => string; says: RegExp }>> = {
  'no repository': { build: fixture => fixture.root, says: /^\/.* is not in a git repository$/ },
  'a folder that is gone': { build: fixture => path.join(fixture.root, 'gone'), says: /gone does not exist$/ },
  'a bare repository': { build: fixture => fixture.repository('bare.git', '--bare'), says: /bare/ },
  'the inside of .git': {
    build: fixture => path.join(fixture.repository('repo'), '.git', 'refs'),
    says: /not in a working tree/,
  },
  'a working tree that lies elsewhere': {
    build: fixture => {
      const repo = fixture.repository('repo')
      put(repo, 'src/a.txt', 'a')
      fixture.git(repo, 'config', 'core.worktree', '../src')
      return path.join(repo, 'src')
    },
    says: /^its working tree is not where its repository is$/,
  },
  'a repository of somebody else': {
    build: fixture => {
      const repo = fixture.repository('repo')
      fs.chownSync(repo, 12_345, 12_345)
      fs.chownSync(path.join(repo, '.git'), 12_345, 12_345)
      return repo
    },
    says: /dubious ownership/,
  },
}

test.skipIf(process.getuid?.() !== 0).each(Object.entries(PLACES))(
  'the checkpointer says why it saves nothing: %s',
  async (_, place) => {
    const fixture = openGitFixture()
    const target = fixture.checkpointTarget(place.build(fixture))
    const error = await fixture
      .checkpoints()
      .save(target, makeCheckpointRequest(), NEVER)
      .catch((cause: unknown) => cause)
    expect(error).toBeInstanceOf(NotSaved)
    expect((error as Error).message).toMatch(place.says)
  },
)

test('the checkpointer saves nothing without git, and saves again with it', async () => {
  const fixture = openGitFixture()
  const target = fixture.checkpointTarget(fixture.repository('repo'))
  const env: NodeJS.ProcessEnv = { ...fixture.env, PATH: '/nowhere' }
  const checkpoints = fixture.checkpoints({ env })
  await expect(checkpoints.save(target, makeCheckpointRequest(), NEVER)).rejects.toThrow(
    new NotSaved('git is not installed, or not on PATH'),
  )
  env['PATH'] = fixture.env['PATH']
  expect(await checkpoints.save(target, makeCheckpointRequest(), NEVER)).toMatchObject({ isNew: true })
})

test('the checkpointer saves a repository that replaced another one', async () => {
  const fixture = openGitFixture()
  const repo = fixture.repository('repo')
  const checkpoints = fixture.checkpoints()
  const target = fixture.checkpointTarget(repo)
  put(repo, 'a.txt', 'a')
  await checkpoints.save(target, makeCheckpointRequest(), NEVER)
  fs.rmSync(path.join(repo, '.git'), { recursive: true })
  await expect(checkpoints.save(target, makeCheckpointRequest(), NEVER)).rejects.toThrow(NotSaved)
  fixture.git(repo, 'init', '--quiet')
  expect(await checkpoints.save(target, makeCheckpointRequest(), NEVER)).toMatchObject({
    checkpoint: { number: 1, change: { files: 1 } },
  })
  fixture.expectIntact(repo)
})

test('the checkpointer saves a session whose folder is gone, because its repository is there', async () => {
  const fixture = openGitFixture()
  const repo = fixture.repository('repo')
  put(repo, 'deep/down/a.txt', 'a')
  const target = fixture.checkpointTarget(path.join(repo, 'deep', 'down'))
  const first = await savedCheckpoint(fixture.checkpoints().save(target, makeCheckpointRequest(), NEVER))
  fs.rmSync(path.join(repo, 'deep'), { recursive: true })
  const again = fixture.checkpoints()
  const over = await savedCheckpoint(again.save(target, makeCheckpointRequest(), NEVER))
  expect(over.change).toEqual({ files: 1, added: 0, removed: 1 })
  await again.restoreInPlace(target, first, over)
  expect(fs.readFileSync(path.join(repo, 'deep/down/a.txt'), 'utf8')).toBe('a')
})
