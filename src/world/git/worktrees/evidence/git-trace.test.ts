import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readTrace } from './git-trace.ts'
import { movesSince } from './reflog.ts'

test('a command belongs to the worktree that it ran in, although it opens a nested repository as well', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'os-trace-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true }))
  const trace = path.join(folder, 'trace')
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }
  const git = (cwd: string, ...args: string[]): unknown =>
    execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=e@x', ...args], { cwd, env, stdio: 'pipe' })
  const [project, nested] = [path.join(folder, 'project'), path.join(folder, 'project/nested')]
  for (const repository of [project, nested]) {
    git(folder, 'init', '--quiet', repository)
    git(repository, 'commit', '--quiet', '--allow-empty', '--message', 'first')
  }
  git(project, 'add', 'nested')
  Object.assign(env, { GIT_TRACE2_EVENT: trace })
  git(project, 'commit', '--quiet', '--message', 'second')
  const commands = readTrace(trace).filter(({ name }) => name === 'commit')
  expect(commands.map(({ worktree }) => worktree)).toEqual([fs.realpathSync(project)])
})

test('the readers do not hang on a pipe in the place of a trace or a reflog', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'os-pipe-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true }))
  fs.mkdirSync(path.join(folder, 'logs'))
  const [trace, reflog] = [path.join(folder, 'trace'), path.join(folder, 'logs/HEAD')]
  execFileSync('mkfifo', [trace, reflog])
  expect(readTrace(trace)).toEqual([])
  expect(movesSince(folder, 0)).toBe(null)
})
