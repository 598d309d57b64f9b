import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { replaceIn } from '../../src/os/files/file-io.ts'
import {
  type Owner,
  openSessionFolder,
  removeAgentFolder,
  removeSessionFolder,
} from '../../src/world/project-files/agent-folder.ts'
import { appendSafely, openSafely } from '../../src/world/project-files/safe-file.ts'
import { testSessionId } from '../../testkit/core/ids.ts'

const NOBODY = 65_534
const isRoot = process.getuid?.() === 0

/** A project that everybody on the machine can write to. */
function sharedProject(): string {
  const project = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'os-agent-')))
  onTestFinished(() => fs.rmSync(project, { recursive: true, force: true }))
  fs.chmodSync(project, 0o777)
  return project
}

const owner = (project: string): Owner => ({
  project,
  name: 'demo',
  id: testSessionId('aaaaaaaaaa'),
})

/** Runs a shell line as another user. */
function asNobody(cwd: string, line: string): void {
  execFileSync('/bin/sh', ['-c', `umask 0; ${line}`], { cwd, uid: NOBODY, gid: NOBODY, env: { PATH: '/usr/bin:/bin' } })
}

test.runIf(isRoot)('oneshot does not use an .agent folder that another user has made, and its error says why', () => {
  const project = sharedProject()
  asNobody(project, 'mkdir .agent')
  expect(() => openSessionFolder(owner(project), () => true)).toThrow('.agent is not used: it belongs to another user')
  fs.rmSync(path.join(project, '.agent'), { recursive: true })
  openSessionFolder(owner(project), () => true)?.close()
  // A user who may write to the project can put their own folder in the place of ours.
  asNobody(project, 'mv .agent mine; mkdir -p .agent/demo; echo "rm -rf ~" > .agent/demo/RECOVERY.md')
  expect(() => openSessionFolder(owner(project), () => true)).toThrow('it belongs to another user')
  expect(fs.readFileSync(path.join(project, '.agent/demo/RECOVERY.md'), 'utf8')).toBe('rm -rf ~\n')
})

test('oneshot uses neither an .agent folder nor a folder of a session that others can write to', () => {
  const project = sharedProject()
  openSessionFolder(owner(project), () => true)?.close()
  fs.chmodSync(path.join(project, '.agent/demo'), 0o770)
  expect(() => openSessionFolder(owner(project), () => true)).toThrow(
    '.agent/demo is not used: others can write to it (mode 0770)',
  )
  fs.chmodSync(path.join(project, '.agent/demo'), 0o700)
  fs.chmodSync(path.join(project, '.agent'), 0o757)
  expect(() => openSessionFolder(owner(project), () => true)).toThrow(
    '.agent is not used: others can write to it (mode 0757)',
  )
})

test('oneshot does not write to a log that belongs to another user or that others can write to', () => {
  const project = sharedProject()
  const folder = openSessionFolder(owner(project), () => true)
  if (folder === null) throw new Error('there is no folder')
  replaceIn(folder, 'session.log', 'mine')
  const file = path.join(project, '.agent/demo/session.log')
  fs.chmodSync(file, 0o666)
  expect(openSafely(folder, 'session.log')).toBeNull()
  fs.chmodSync(file, 0o600)
  if (isRoot) {
    fs.chownSync(file, NOBODY, NOBODY)
    expect(appendSafely(folder, 'session.log', 'secret')).toBe(false)
  }
  expect(fs.readFileSync(file, 'utf8')).toBe('mine')
  folder.close()
})

/** Returns the files that a real npm would publish. */
function packedIn(project: string): string[] {
  const env = {
    PATH: process.env['PATH'],
    HOME: project,
    npm_config_cache: path.join(project, 'cache'),
    npm_config_update_notifier: 'false',
  }
  const said = execFileSync('npm', ['pack', '--dry-run', '--json', '--offline', '--ignore-scripts'], {
    cwd: project,
    env,
    encoding: 'utf8',
  })
  const [packed] = JSON.parse(said) as { files: { path: string }[] }[]
  return packed?.files.map(({ path: name }) => name) ?? []
}

test.each([
  ['nothing else', {}],
  ['a .gitignore', { '.gitignore': 'node_modules\n' }],
  ['a .npmignore', { '.npmignore': 'test\n' }],
  [
    'a list of files that names every file',
    { 'package.json': '{"name":"x","version":"1.0.0","files":["**/*","**/.*",".agent"]}' },
  ],
])('npm pack leaves out the .agent folder, in a package with %s', (_, files) => {
  const project = sharedProject()
  const folder = openSessionFolder(owner(project), () => true)
  if (folder === null) throw new Error('there is no folder')
  for (const name of ['STATUS.md', 'session.log', 'RECOVERY.md']) replaceIn(folder, name, 'secret')
  folder.close()
  const all = { 'package.json': '{"name":"x","version":"1.0.0"}', 'index.js': '', ...files }
  for (const [name, text] of Object.entries(all)) fs.writeFileSync(path.join(project, name), text)
  const names = packedIn(project)
  expect(names).toContain('index.js')
  expect(names.filter(name => name.includes('.agent'))).toEqual([])
})

test('a project that tracks its own .agent folder keeps its files in git and in its package, without the files of oneshot', () => {
  const project = sharedProject()
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: project, encoding: 'utf8' })
  git('init', '-q')
  fs.mkdirSync(path.join(project, '.agent'))
  fs.writeFileSync(path.join(project, '.agent/rules.md'), 'be kind\n')
  for (const [name, text] of [
    ['package.json', '{"name":"x","version":"1.0.0"}'],
    ['index.js', ''],
  ] as const)
    fs.writeFileSync(path.join(project, name), text)
  git('add', '-A')
  const folder = openSessionFolder(owner(project), () => true)
  if (folder === null) throw new Error('there is no folder')
  for (const name of ['STATUS.md', 'session.log']) replaceIn(folder, name, 'secret')
  folder.close()
  fs.symlinkSync('demo/STATUS.md', path.join(project, '.agent/STATUS.md'))
  fs.writeFileSync(path.join(project, '.agent/more.md'), 'more\n')
  expect(git('status', '--short', '--untracked-files=all', '--', '.agent')).toBe(
    'A  .agent/rules.md\n?? .agent/more.md\n',
  )
  expect(packedIn(project).filter(name => name.includes('.agent'))).toEqual(['.agent/more.md', '.agent/rules.md'])
  removeSessionFolder(owner(project))
  expect(fs.readdirSync(path.join(project, '.agent')).toSorted()).toEqual(['STATUS.md', 'more.md', 'rules.md'])
})

test('oneshot writes a removed .gitignore of the .agent folder again when it opens the folder of a session', () => {
  const project = sharedProject()
  openSessionFolder(owner(project), () => true)?.close()
  for (const name of ['.agent/.gitignore', '.agent/demo/.gitignore']) fs.rmSync(path.join(project, name))
  openSessionFolder(owner(project), () => true)?.close()
  for (const name of ['.agent/.gitignore', '.agent/demo/.gitignore'])
    expect(fs.readFileSync(path.join(project, name), 'utf8')).toContain('\n*\n')
})

test('oneshot removes the .agent folder with the last session, unless somebody has put something into it', () => {
  const project = sharedProject()
  openSessionFolder(owner(project), () => true)?.close()
  removeSessionFolder(owner(project))
  removeAgentFolder(project)
  expect(fs.readdirSync(project)).toEqual([])
  openSessionFolder(owner(project), () => true)?.close()
  fs.writeFileSync(path.join(project, '.agent/.gitignore'), 'mine\n')
  removeSessionFolder(owner(project))
  removeAgentFolder(project)
  expect(fs.readdirSync(path.join(project, '.agent'))).toEqual(['.gitignore'])
})
