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

test.each([
  ['the usual', {}, 0o022],
  ['the session’s', { umask: 0o027 }, 0o027],
] as const)(
  'what git writes into the repository has %s permissions, and ours in the state folder stay private',
  async (_, wish, umask) => {
    const bench = openGitBench()
    const repo = bench.repository('repo')
    put(repo, 'a', 'text\n')
    bench.git(repo, 'add', '--all')
    bench.git(repo, 'commit', '--quiet', '--message', 'begin')
    const before = new Set(filesIn(path.join(repo, '.git')))
    const ours = process.umask(0o077)
    onTestFinished(() => void process.umask(ours))
    const keeping = { ...bench.keeping(repo), ...wish }
    for (const visible of [false, true]) {
      put(repo, `d/${visible}`, `${visible}\n`)
      await saved(bench.checkpoints().save(keeping, occasion({ isVisible: visible }), NEVER))
    }
    const made = filesIn(path.join(repo, '.git')).filter(file => !before.has(file) || file.endsWith('/index'))
    expect(made.some(file => file.includes('/objects/'))).toBe(true)
    for (const file of made) {
      const stat = fs.statSync(file)
      const usual = stat.isDirectory() ? 0o777 : file.includes('/objects/') ? 0o444 : 0o666
      expect([file, (stat.mode & 0o777).toString(8)]).toEqual([file, (usual & ~umask).toString(8)])
    }
    for (const file of filesIn(bench.state)) expect([file, fs.statSync(file).mode & 0o077]).toEqual([file, 0])
  },
)

function filesIn(folder: string): string[] {
  return fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(name => path.join(folder, name))
}
