import fs from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { NEVER, makeCheckpointRequest, openGitFixture, put, savedCheckpoint } from './git-fixture.ts'

test.each([
  ['the usual', {}, [0o644, 0o755, 0o755]],
  ['the session’s', { umask: 0o027 }, [0o640, 0o750, 0o750]],
] as const)('restore gives files %s permissions, whatever the umask of the supervisor is', async (_, wish, modes) => {
  const fixture = openGitFixture()
  const repo = fixture.repository('repo')
  const checkpoints = fixture.checkpoints()
  const keeping = { ...fixture.checkpointTarget(repo), ...wish }
  put(repo, 'd/plain', 'text\n')
  put(repo, 'd/program', '#!/bin/sh\n', 0o755)
  const first = await savedCheckpoint(checkpoints.save(keeping, makeCheckpointRequest(), NEVER))
  fs.rmSync(path.join(repo, 'd'), { recursive: true })
  const over = await savedCheckpoint(checkpoints.save(keeping, makeCheckpointRequest(), NEVER))
  const ours = process.umask(0o077)
  onTestFinished(() => void process.umask(ours))
  const worktree = path.join(fixture.root, 'beside')
  await checkpoints.restoreToBranch(keeping, first, { branch: 'old', worktree })
  await checkpoints.restoreInPlace(keeping, first, over)
  for (const top of [repo, worktree]) {
    const found = ['d/plain', 'd/program', 'd'].map(name => fs.statSync(path.join(top, name)).mode & 0o777)
    expect(found, top).toEqual(modes)
  }
})

test.each([
  ['the usual', {}, 0o022],
  ['the session’s', { umask: 0o027 }, 0o027],
] as const)(
  'a checkpoint gives files in the repository %s permissions, and keeps the state folder private',
  async (_, wish, umask) => {
    const fixture = openGitFixture()
    const repo = fixture.repository('repo')
    put(repo, 'a', 'text\n')
    fixture.git(repo, 'add', '--all')
    fixture.git(repo, 'commit', '--quiet', '--message', 'begin')
    const before = new Set(filesIn(path.join(repo, '.git')))
    const ours = process.umask(0o077)
    onTestFinished(() => void process.umask(ours))
    const keeping = { ...fixture.checkpointTarget(repo), ...wish }
    for (const visible of [false, true]) {
      put(repo, `d/${visible}`, `${visible}\n`)
      await savedCheckpoint(fixture.checkpoints().save(keeping, makeCheckpointRequest({ isVisible: visible }), NEVER))
    }
    const made = filesIn(path.join(repo, '.git')).filter(file => !before.has(file) || file.endsWith('/index'))
    expect(made.some(file => file.includes('/objects/'))).toBe(true)
    for (const file of made) {
      const stat = fs.statSync(file)
      const usual = stat.isDirectory() ? 0o777 : file.includes('/objects/') ? 0o444 : 0o666
      expect([file, (stat.mode & 0o777).toString(8)]).toEqual([file, (usual & ~umask).toString(8)])
    }
    for (const file of filesIn(fixture.state)) expect([file, fs.statSync(file).mode & 0o077]).toEqual([file, 0])
  },
)

function filesIn(folder: string): string[] {
  return fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(name => path.join(folder, name))
}
