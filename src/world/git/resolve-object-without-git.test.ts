import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { resolveFromFiles } from './resolve-object-without-git.ts'

test('names resolve to the same objects as git finds, and only git resolves packed, symbolic and missing ones', () => {
  const top = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'os-resolve-')))
  onTestFinished(() => fs.rmSync(top, { recursive: true }))
  const env = { PATH: process.env['PATH'], HOME: top, GIT_CONFIG_NOSYSTEM: '1' }
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: top, env, encoding: 'utf8' }).trim()
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@localhost']
  git('init', '--quiet', '--initial-branch=main')
  fs.writeFileSync(path.join(top, 'a'), 'a')
  git('add', 'a')
  git(...who, 'commit', '--quiet', '-m', 'one')
  git(...who, 'tag', '-a', '-m', 'two', 'two')
  git('symbolic-ref', 'refs/heads/other', 'refs/heads/main')
  const dirs = { gitDir: path.join(top, '.git'), commonDir: path.join(top, '.git') }
  const head = git('rev-parse', 'HEAD')
  const known = ['HEAD^{commit}', 'HEAD^{tree}', 'refs/heads/main^{tree}', `${head}^{commit}`, `${head}^{tree}`]
  for (const name of known) expect([name, resolveFromFiles(dirs, name)]).toEqual([name, git('rev-parse', name)])
  const tag = git('rev-parse', 'two')
  const left = ['refs/heads/other^{commit}', 'refs/heads/none^{commit}', 'refs/heads/../heads/main^{commit}', 'HEAD~1']
  for (const name of [...left, `${tag}^{commit}`, 'two^{commit}', `${head}^{blob}`, `${'1'.repeat(40)}^{commit}`])
    expect([name, resolveFromFiles(dirs, name)]).toEqual([name, null])
  git('checkout', '--quiet', '--detach')
  expect(resolveFromFiles(dirs, 'HEAD^{commit}')).toBe(head)
  git('gc', '--quiet')
  for (const name of known) expect([name, resolveFromFiles(dirs, name)]).toEqual([name, null])
})
