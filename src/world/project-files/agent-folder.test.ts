import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { testSessionId } from '../../../testkit/core/ids.ts'
import { FILES, type Owner, openAgentFolder, openSessionFolder, removeSessionFolder } from './agent-folder.ts'
import { replaceIn } from '../../os/files/file-io.ts'
import { linkTo, removeOldLinks } from './newest-links.ts'

let root: string
let project: string
beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'os-project-'))
  project = path.join(root, 'project')
  fs.mkdirSync(project)
})
afterEach(() => fs.rmSync(root, { recursive: true }))

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd, encoding: 'utf8' })

function repository(): void {
  git(project, 'init', '--quiet')
  git(project, 'commit', '--quiet', '--allow-empty', '-m', 'begin')
}

const SESSIONS = '/home/dev/.local/state/oneshot/sessions'
const owner = (name = 'claude-fix', id = 'aaaaaaaaaa', place = project): Owner => ({
  project: place,
  name,
  id: testSessionId(id),
})
const inAgent = (...names: string[]): string => path.join(project, '.agent', ...names)
const read = (...names: string[]): string => fs.readFileSync(inAgent(...names), 'utf8')
const never = (): boolean => false

/** Writes a file into the session's folder. Returns false if openSessionFolder opens none. */
function put(who: Owner, file: string, text: string, mayTake: (id: string | null) => boolean = never): boolean {
  const folder = openSessionFolder(who, mayTake)
  if (folder === null) return false
  try {
    replaceIn(folder, file, text)
    return true
  } finally {
    folder.close()
  }
}

function lead(name: string | null): void {
  const agent = openAgentFolder(project)
  if (agent === null) return
  linkTo(agent, name, SESSIONS)
  agent.close()
}

test('each session has its own folder, which only its user can read and git ignores', () => {
  repository()
  fs.mkdirSync(path.join(project, 'deep'))
  for (const place of [project, path.join(project, 'deep')]) {
    expect(put(owner('claude-fix', 'aaaaaaaaaa', place), 'STATUS.md', 'one')).toBe(true)
    expect(put(owner('claude-fix', 'aaaaaaaaaa', place), 'STATUS.md', 'two')).toBe(true)
    expect(put(owner('pi-test', 'bbbbbbbbbb', place), 'STATUS.md', 'three')).toBe(true)
  }
  expect([read('claude-fix', 'STATUS.md'), read('pi-test', 'STATUS.md')]).toEqual(['two', 'three'])
  const modes = [inAgent(), inAgent('claude-fix'), inAgent('claude-fix', 'STATUS.md')].map(
    file => fs.statSync(file).mode & 0o777,
  )
  expect(modes).toEqual([0o700, 0o700, 0o600])
  expect(git(project, 'status', '--porcelain')).toBe('')
  expect(fs.readFileSync(path.join(project, '.git/info/exclude'), 'utf8').match(/^\.agent\/$/gm)).toHaveLength(1)
})

test('git ignores the folder in a worktree, too', () => {
  repository()
  const worktree = path.join(root, 'tree')
  git(project, 'worktree', 'add', '--quiet', worktree)
  expect(put(owner('claude-fix', 'aaaaaaaaaa', worktree), 'STATUS.md', 'one')).toBe(true)
  expect(git(worktree, 'status', '--porcelain')).toBe('')
})

test('a session takes over a folder of the same name only from a session that may be replaced', () => {
  put(owner(), 'STATUS.md', 'old')
  put(owner(), 'session.log', 'old')
  fs.writeFileSync(inAgent('claude-fix', 'session.log.1.gz'), 'old')
  fs.writeFileSync(inAgent('claude-fix', 'notes.txt'), 'mine')
  const next = owner('claude-fix', 'bbbbbbbbbb')
  expect(put(next, 'STATUS.md', 'new')).toBe(false)
  expect(read('claude-fix', 'STATUS.md')).toBe('old')
  expect(put(next, 'STATUS.md', 'new', () => true)).toBe(true)
  expect(fs.readdirSync(inAgent('claude-fix')).sort()).toEqual(['.gitignore', '.session', 'STATUS.md', 'notes.txt'])
  expect(put(owner(), 'STATUS.md', 'old again')).toBe(false)
})

test('openSessionFolder leaves alone a file, a link, or a folder with files of the user', () => {
  const elsewhere = path.join(root, 'elsewhere')
  fs.mkdirSync(elsewhere)
  fs.symlinkSync(elsewhere, inAgent())
  expect(put(owner(), 'STATUS.md', 'x')).toBe(false)
  fs.rmSync(inAgent())
  fs.writeFileSync(inAgent(), 'a file')
  expect(put(owner(), 'STATUS.md', 'x')).toBe(false)
  expect(fs.readFileSync(inAgent(), 'utf8')).toBe('a file')
  fs.rmSync(inAgent())
  fs.mkdirSync(inAgent())
  fs.symlinkSync(elsewhere, inAgent('claude-fix'))
  expect(put(owner(), 'STATUS.md', 'x')).toBe(false)
  fs.mkdirSync(inAgent('pi-test'))
  fs.writeFileSync(inAgent('pi-test', 'STATUS.md'), 'mine')
  expect(put(owner('pi-test'), 'STATUS.md', 'x')).toBe(false)
  expect(read('pi-test', 'STATUS.md')).toBe('mine')
  expect(fs.readdirSync(elsewhere)).toEqual([])
})

test('a session may take a folder without an owner, and writes only to exclude files of a real repository', () => {
  repository()
  put(owner(), 'STATUS.md', 'one')
  fs.rmSync(inAgent('claude-fix', '.session'))
  expect(put(owner(), 'STATUS.md', 'two')).toBe(false)
  expect(put(owner(), 'STATUS.md', 'two', id => id === null)).toBe(true)
  fs.rmSync(inAgent(), { recursive: true })
  const victim = path.join(root, '.bashrc')
  fs.writeFileSync(victim, 'precious')
  fs.rmSync(path.join(project, '.git/info/exclude'))
  fs.symlinkSync(victim, path.join(project, '.git/info/exclude'))
  expect(() => put(owner(), 'STATUS.md', 'three')).toThrow('ELOOP')
  fs.rmSync(path.join(project, '.git'), { recursive: true })
  fs.mkdirSync(path.join(root, 'trap', 'info'), { recursive: true })
  fs.symlinkSync(victim, path.join(root, 'trap', 'info', 'exclude'))
  fs.writeFileSync(path.join(project, '.git'), `gitdir: ${path.join(root, 'trap')}\n`)
  expect(put(owner(), 'STATUS.md', 'four')).toBe(true)
  expect(fs.readFileSync(victim, 'utf8')).toBe('precious')
})

test('replaceIn replaces a link in place of a file or of its temporary file and does not follow it', () => {
  const victim = path.join(root, '.bashrc')
  fs.writeFileSync(victim, 'precious')
  put(owner(), 'STATUS.md', 'one')
  for (const name of ['STATUS.md', '.STATUS.md.tmp']) {
    fs.rmSync(inAgent('claude-fix', name), { force: true })
    fs.symlinkSync(victim, inAgent('claude-fix', name))
    expect(put(owner(), 'STATUS.md', 'two')).toBe(true)
  }
  expect(fs.readFileSync(victim, 'utf8')).toBe('precious')
  expect(fs.lstatSync(inAgent('claude-fix', 'STATUS.md')).isFile()).toBe(true)
})

test('an open folder handle still leads to the folder after somebody has swapped it for a link', () => {
  const elsewhere = path.join(root, 'elsewhere')
  fs.mkdirSync(elsewhere)
  const folder = openSessionFolder(owner(), never)
  fs.renameSync(inAgent('claude-fix'), inAgent('moved'))
  fs.symlinkSync(elsewhere, inAgent('claude-fix'))
  if (folder !== null) replaceIn(folder, 'STATUS.md', 'one')
  folder?.close()
  expect(fs.readdirSync(elsewhere)).toEqual([])
  expect(read('moved', 'STATUS.md')).toBe('one')
})

test('the links at the top lead to one session and never replace a file or link of the user', () => {
  for (const file of FILES) {
    put(owner('claude-a', 'aaaaaaaaaa'), file, 'a')
    put(owner('claude-b', 'bbbbbbbbbb'), file, 'b')
  }
  fs.writeFileSync(inAgent('STATUS.md'), 'mine')
  fs.symlinkSync('/somewhere/else', inAgent('RECOVERY.md'))
  fs.symlinkSync(`${SESSIONS}/zzzzzzzzzz/transcript`, inAgent('session.log'))
  lead('claude-a')
  lead('claude-b')
  const targets = FILES.filter(file => fs.lstatSync(inAgent(file)).isSymbolicLink()).map(file =>
    fs.readlinkSync(inAgent(file)),
  )
  expect(targets).toEqual([
    'claude-b/HEARTBEAT',
    'claude-b/CHECKPOINTS.md',
    'claude-b/session.log',
    'claude-b/LAST_STATE.md',
    '/somewhere/else',
  ])
  lead(null)
  expect(fs.readdirSync(inAgent()).sort()).toEqual(['.gitignore', 'RECOVERY.md', 'STATUS.md', 'claude-a', 'claude-b'])
})

test('removeOldLinks removes links of earlier versions that are dangling or belong to the removed session', () => {
  fs.mkdirSync(inAgent())
  const kept = path.join(root, 'sessions', 'kkkkkkkkkk', 'transcript')
  fs.mkdirSync(path.dirname(kept), { recursive: true })
  fs.writeFileSync(kept, '')
  const sessions = path.join(root, 'sessions')
  fs.symlinkSync(kept, inAgent('claude-kept.log'))
  fs.symlinkSync(`${sessions}/gggggggggg/transcript`, inAgent('claude-gone.log'))
  fs.symlinkSync('/not/ours', inAgent('mine.log'))
  const agent = openAgentFolder(project)
  if (agent !== null) removeOldLinks(agent, { sessions, id: testSessionId('xxxxxxxxxx') })
  expect(fs.readdirSync(inAgent()).sort()).toEqual(['claude-kept.log', 'mine.log'])
  if (agent !== null) removeOldLinks(agent, { sessions, id: testSessionId('kkkkkkkkkk') })
  agent?.close()
  expect(fs.readdirSync(inAgent()).sort()).toEqual(['mine.log'])
})

test('removeSessionFolder removes the session’s files and keeps files of others', () => {
  for (const file of [...FILES, 'session.log.1.gz', 'session.log.12.gz']) put(owner(), file, 'x')
  removeSessionFolder(owner('claude-fix', 'bbbbbbbbbb'))
  expect(fs.existsSync(inAgent('claude-fix', 'STATUS.md'))).toBe(true)
  removeSessionFolder(owner())
  expect(fs.readdirSync(inAgent())).toEqual(['.gitignore'])
  put(owner(), 'STATUS.md', 'x')
  fs.writeFileSync(inAgent('claude-fix', 'STATUS.md.bak'), 'mine')
  removeSessionFolder(owner())
  expect(fs.readdirSync(inAgent('claude-fix'))).toEqual(['STATUS.md.bak'])
  expect(put(owner(), 'STATUS.md', 'y')).toBe(true)
})

test('openSessionFolder throws if the project is missing or not writable', () => {
  expect(() => put(owner('claude-fix', 'aaaaaaaaaa', '/proc/nowhere'), 'STATUS.md', 'x')).toThrow()
  expect(() => put(owner('claude-fix', 'aaaaaaaaaa', path.join(root, 'gone')), 'STATUS.md', 'x')).toThrow('ENOENT')
  expect(fs.existsSync(path.join(root, 'gone'))).toBe(false)
})
