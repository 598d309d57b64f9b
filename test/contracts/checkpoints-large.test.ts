import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { NEVER, makeCheckpointRequest, openGitFixture, put, savedCheckpoint } from './git-fixture.ts'

const LARGE = 'x'.repeat(2_000)

/** A repository whose first checkpoint has a small `data`; files of more than 1000 bytes are left out. */
async function begin() {
  const fixture = openGitFixture()
  const repo = fixture.repository('repo')
  const checkpoints = fixture.checkpoints({ maxFileSize: 1_000 })
  const target = fixture.checkpointTarget(repo)
  put(repo, 'data', 'one\n')
  const save = () => savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  return { repo, checkpoints, keeping: target, save, first: await save() }
}

test.each([
  ['had changed before it grew', (repo: string) => put(repo, 'data', 'two\n')],
  ['was removed and made again', (repo: string) => fs.rmSync(path.join(repo, 'data'))],
])('restore does not replace a large file that %s, and gives its size as the reason', async (_, meanwhile) => {
  const { repo, checkpoints, keeping: target, save, first } = await begin()
  meanwhile(repo)
  await save()
  put(repo, 'data', LARGE)
  put(repo, 'more', 'more\n')
  const over = await save()
  await expect(checkpoints.restoreInPlace(target, first, over)).rejects.toThrow(
    'data would be lost, which is 2.0 KB large and not saved',
  )
  expect(fs.readFileSync(path.join(repo, 'data'), 'utf8')).toBe(LARGE)
  expect(fs.existsSync(path.join(repo, 'more'))).toBe(true)
})
