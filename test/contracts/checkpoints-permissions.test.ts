import fs from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { NEVER, occasion, openGitBench, put, saved } from './git-bench.ts'

test.each([
  ['the usual', {}, [0o644, 0o755, 0o755]],
  ['the session’s', { umask: 0o027 }, [0o640, 0o750, 0o750]],
] as const)('what is brought back has %s permissions, whatever ours are', async (_, wish, modes) => {
  const bench = openGitBench()
  const repo = bench.repository('repo')
  const checkpoints = bench.checkpoints()
  const keeping = { ...bench.keeping(repo), ...wish }
  put(repo, 'd/plain', 'text\n')
  put(repo, 'd/program', '#!/bin/sh\n', 0o755)
  const first = await saved(checkpoints.save(keeping, occasion(), NEVER))
  fs.rmSync(path.join(repo, 'd'), { recursive: true })
  const over = await saved(checkpoints.save(keeping, occasion(), NEVER))
  const ours = process.umask(0o077)
  onTestFinished(() => void process.umask(ours))
  const worktree = path.join(bench.root, 'beside')
  await checkpoints.restoreBeside(keeping, first, { branch: 'old', worktree })
  await checkpoints.restoreHere(keeping, first, over)
  for (const top of [repo, worktree]) {
    const found = ['d/plain', 'd/program', 'd'].map(name => fs.statSync(path.join(top, name)).mode & 0o777)
    expect(found, top).toEqual(modes)
  }
})
