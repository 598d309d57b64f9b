import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { showTranscript } from './project-folder.ts'

let root: string
let transcript: string
beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'os-project-'))
  transcript = path.join(root, 'transcript')
  fs.writeFileSync(transcript, 'I begin\n')
})
afterEach(() => fs.rmSync(root, { recursive: true }))

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd, encoding: 'utf8' })

function repository(): string {
  const folder = path.join(root, 'project')
  fs.mkdirSync(path.join(folder, 'deep'), { recursive: true })
  git(folder, 'init', '--quiet')
  git(folder, 'commit', '--quiet', '--allow-empty', '-m', 'begin')
  return folder
}

test('a transcript is read in its project, and git does not see it', () => {
  const project = repository()
  for (const place of [project, path.join(project, 'deep')]) {
    showTranscript(place, 'claude-fix', transcript)
    showTranscript(place, 'claude-fix', transcript)
    expect(fs.readFileSync(path.join(place, '.agent/session.log'), 'utf8')).toBe('I begin\n')
    expect(fs.readFileSync(path.join(place, '.agent/claude-fix.log'), 'utf8')).toBe('I begin\n')
  }
  expect(git(project, 'status', '--porcelain')).toBe('')
  expect(fs.readFileSync(path.join(project, '.git/info/exclude'), 'utf8').match(/^\.agent\/$/gm)).toHaveLength(1)
})

test('in a worktree too', () => {
  const worktree = path.join(root, 'tree')
  git(repository(), 'worktree', 'add', '--quiet', worktree)
  showTranscript(worktree, 'claude-fix', transcript)
  expect(fs.existsSync(path.join(worktree, '.agent/session.log'))).toBe(true)
  expect(git(worktree, 'status', '--porcelain')).toBe('')
})

test('the newest session is shown, and a file of the user’s own stays', () => {
  const other = path.join(root, 'other')
  fs.writeFileSync(other, 'another\n')
  fs.mkdirSync(path.join(root, '.agent'))
  fs.writeFileSync(path.join(root, '.agent/claude-a.log'), 'mine')
  showTranscript(root, 'claude-a', transcript)
  showTranscript(root, 'claude-b', other)
  expect(fs.readFileSync(path.join(root, '.agent/session.log'), 'utf8')).toBe('another\n')
  expect(fs.readFileSync(path.join(root, '.agent/claude-a.log'), 'utf8')).toBe('mine')
})

test('a project that cannot be written to goes without', () => {
  expect(() => showTranscript('/proc/nowhere', 'claude-fix', transcript)).not.toThrow()
  fs.writeFileSync(path.join(root, '.agent'), 'a file')
  expect(() => showTranscript(root, 'claude-fix', transcript)).not.toThrow()
  expect(fs.readFileSync(path.join(root, '.agent'), 'utf8')).toBe('a file')
})
