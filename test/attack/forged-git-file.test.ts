import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isRemovedRepository } from '../../src/world/git/checkpoint/save/classify-files.ts'
import { addToGitExclude } from '../../src/state/git-exclude.ts'

let root: string
beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'os-forged-'))
})
afterEach(() => fs.rmSync(root, { recursive: true, force: true }))

function git(cwd: string, ...words: readonly string[]): void {
  const identity = ['-c', 'user.name=n', '-c', 'user.email=e@x', '-c', 'protocol.file.allow=always']
  execFileSync('git', ['-C', cwd, ...identity, ...words], { stdio: 'ignore' })
}

function repository(name: string): string {
  const folder = path.join(root, name)
  fs.mkdirSync(folder)
  git(folder, 'init')
  git(folder, 'commit', '--allow-empty', '--message', 'first')
  return folder
}

function excludedIn(gitFolder: string): boolean {
  const file = path.join(gitFolder, 'info/exclude')
  return fs.existsSync(file) && fs.readFileSync(file, 'utf8').includes('.agent/')
}

test('oneshot does not change the repository of another project that a forged .git file names', () => {
  const other = repository('other')
  const project = path.join(root, 'project')
  fs.mkdirSync(project)
  fs.writeFileSync(path.join(project, '.git'), `gitdir: ${path.join(other, '.git')}\n`)
  addToGitExclude(project, ['.agent/'])
  expect(excludedIn(path.join(other, '.git'))).toBe(false)
})

test('oneshot hides its files from git in a worktree and in a submodule', () => {
  const main = repository('main')
  const module = repository('module')
  git(main, 'worktree', 'add', '../beside')
  git(main, 'submodule', 'add', module, 'sub')
  addToGitExclude(path.join(root, 'beside'), ['.agent/'])
  addToGitExclude(path.join(main, 'sub'), ['.agent/'])
  expect(excludedIn(path.join(main, '.git'))).toBe(true)
  expect(excludedIn(path.join(main, '.git/modules/sub'))).toBe(true)
})

test('oneshot does not read a .git file of many megabytes', () => {
  const folder = path.join(root, 'nested')
  const file = path.join(folder, '.git')
  fs.mkdirSync(folder)
  fs.writeFileSync(file, 'gitdir: /nowhere\n')
  expect(isRemovedRepository(Buffer.from(folder))).toBe(true)
  fs.truncateSync(file, 64 * 1_048_576)
  expect(isRemovedRepository(Buffer.from(folder))).toBe(false)
})
