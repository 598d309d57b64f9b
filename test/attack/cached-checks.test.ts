import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { openFolderWithoutLinks } from '../../src/os/files/folder-handle.ts'
import { addToGitExclude } from '../../src/state/git-exclude.ts'
import { findGit } from '../../src/world/git/git-settings.ts'
import { findConfigOverrides } from '../../src/world/git/guard/config-overrides.ts'
import { waitUntil } from '../../testkit/system/wait-until.ts'
import { type GitFixture, openGitFixture } from '../contracts/git-fixture.ts'

const FILTER = '[filter "x"]\n\tclean = touch /tmp/pwned\n'
/** As long as FILTER, and harmless. */
const COMMENT = `# filter ${'.'.repeat(FILTER.length - 10)}\n`

let fixture: GitFixture
let repository: string
beforeEach(() => {
  fixture = openGitFixture()
  repository = fixture.repository('project')
})

/** Returns the settings by which oneshot overrides those of a repository. */
async function overridesOf(folder: string): Promise<string[]> {
  const { settings } = await findConfigOverrides(folder, await findGit(fixture.env))
  return settings.map(setting => setting.join('='))
}

const configOf = (folder: string): string => path.join(folder, '.git/config')

/** Changes a file in place and restores the time of its last change. */
function changeInPlace(file: string, from: string, to: string): void {
  const { mtime, atime } = fs.statSync(file)
  const content = fs.readFileSync(file, 'utf8').replace(from, () => to)
  fs.writeFileSync(file, content)
  fs.utimesSync(file, atime, mtime)
}

/** Waits until a change of the file would show in its times. */
async function settled(file: string): Promise<void> {
  await waitUntil('the file is settled', () => Date.now() - fs.statSync(file).ctimeMs > 200)
}

describe('oneshot checks the configuration of a repository again', () => {
  it('after a change that keeps its size and time', async () => {
    fs.appendFileSync(configOf(repository), COMMENT)
    await settled(configOf(repository))
    for (let time = 0; time < 2; time++) expect(await overridesOf(repository)).not.toContain('filter.x.clean=')
    changeInPlace(configOf(repository), COMMENT, FILTER)
    expect(await overridesOf(repository)).toContain('filter.x.clean=')
  })

  it('after a change through mapped memory, which shows in no time of the file', async ({ skip }) => {
    if (!fs.existsSync('/dev/shm') || spawnSync('python3', ['--version']).status !== 0)
      return skip('this needs /dev/shm and python3')
    const folder = fs.mkdtempSync('/dev/shm/os-mapped-')
    onTestFinished(() => fs.rmSync(folder, { recursive: true }))
    fixture.git(folder, 'init', '--quiet')
    fs.appendFileSync(configOf(folder), COMMENT)
    const before = fs.readFileSync(configOf(folder))
    const after = Buffer.from(before.toString().replace(COMMENT, () => FILTER))
    const script = [
      'import mmap, sys',
      `file = open(${JSON.stringify(configOf(folder))}, "r+b")`,
      'memory = mmap.mmap(file.fileno(), 0)',
      'memory[0:1] = memory[0:1]',
      'print("mapped", flush=True)',
      'sys.stdin.readline()',
      `memory[:] = bytes.fromhex("${after.toString('hex')}")`,
    ].join('\n')
    const writer = spawn('python3', ['-c', script], { stdio: ['pipe', 'pipe', 'inherit'] })
    const ended = new Promise(resolve => writer.on('close', resolve))
    await new Promise(resolve => writer.stdout.once('data', resolve))
    await settled(configOf(folder))
    for (let time = 0; time < 2; time++) expect(await overridesOf(folder)).not.toContain('filter.x.clean=')
    const { ctimeMs } = fs.statSync(configOf(folder))
    writer.stdin.end('go\n')
    expect(await ended).toBe(0)
    expect(fs.statSync(configOf(folder)).ctimeMs).toBe(ctimeMs)
    expect(await overridesOf(folder)).toContain('filter.x.clean=')
  })

  it('when a file that it names turns into a pipe, at which git would hang', async () => {
    const excludes = path.join(fixture.root, 'excludes')
    fs.writeFileSync(excludes, '')
    fixture.git(repository, 'config', 'core.excludesFile', excludes)
    await settled(configOf(repository))
    for (let time = 0; time < 2; time++)
      expect(await overridesOf(repository)).not.toContain('core.excludesfile=/dev/null')
    fs.rmSync(excludes)
    expect(spawnSync('mkfifo', [excludes]).status).toBe(0)
    expect(await overridesOf(repository)).toContain('core.excludesfile=/dev/null')
  })

  it('when its folder leads to another working tree', async () => {
    const other = path.join(fixture.root, 'elsewhere')
    const link = path.join(fixture.root, 'link')
    fs.mkdirSync(other)
    fs.symlinkSync(repository, link)
    fixture.git(repository, 'config', 'core.worktree', link)
    await settled(configOf(repository))
    for (let time = 0; time < 2; time++) await overridesOf(repository)
    fs.rmSync(link)
    fs.symlinkSync(other, link)
    await expect(overridesOf(repository)).rejects.toThrow('its working tree is not where its repository is')
  })

  it('when another repository takes its place', async () => {
    const hostile = fixture.repository('hostile')
    fs.appendFileSync(configOf(repository), COMMENT)
    fs.appendFileSync(configOf(hostile), FILTER)
    await settled(configOf(hostile))
    for (const folder of [repository, repository]) await overridesOf(folder)
    fs.renameSync(path.join(repository, '.git'), path.join(fixture.root, 'old.git'))
    fs.renameSync(path.join(hostile, '.git'), path.join(repository, '.git'))
    expect(await overridesOf(repository)).toContain('filter.x.clean=')
  })
})

describe('oneshot checks the exclude file of a repository again', () => {
  const PATTERN = '/.agent/'
  const excludeOf = (folder: string): string => path.join(folder, '.git/info/exclude')

  /** Adds the pattern and lets oneshot see it twice, so that it remembers the file. */
  async function exclude(): Promise<string> {
    addToGitExclude(repository, [PATTERN])
    await settled(excludeOf(repository))
    for (let time = 0; time < 2; time++) addToGitExclude(repository, [PATTERN])
    return fs.readFileSync(excludeOf(repository), 'utf8')
  }

  it('after a change that keeps its size and time', async () => {
    await exclude()
    changeInPlace(excludeOf(repository), PATTERN, '/.other/')
    addToGitExclude(repository, [PATTERN])
    expect(fs.readFileSync(excludeOf(repository), 'utf8').split('\n')).toContain(PATTERN)
  })

  it('when another repository takes its place', async () => {
    await exclude()
    const other = fixture.repository('other')
    fs.renameSync(path.join(repository, '.git'), path.join(fixture.root, 'old.git'))
    fs.renameSync(path.join(other, '.git'), path.join(repository, '.git'))
    addToGitExclude(repository, [PATTERN])
    expect(fs.readFileSync(excludeOf(repository), 'utf8').split('\n')).toContain(PATTERN)
  })

  it.each(['link', 'hard link', 'link to its folder'])('and writes through no %s in its place', async kind => {
    await exclude()
    const outside = path.join(fixture.root, 'outside')
    const victim = path.join(outside, 'exclude')
    fs.mkdirSync(outside)
    fs.writeFileSync(victim, 'of somebody else\n')
    const info = path.join(repository, '.git/info')
    if (kind === 'link to its folder') fs.renameSync(info, path.join(fixture.root, 'info'))
    else fs.rmSync(excludeOf(repository))
    if (kind === 'link') fs.symlinkSync(victim, excludeOf(repository))
    else if (kind === 'hard link') fs.linkSync(victim, excludeOf(repository))
    else fs.symlinkSync(outside, info)
    expect(() => addToGitExclude(repository, [PATTERN])).toThrow()
    expect(fs.readFileSync(victim, 'utf8')).toBe('of somebody else\n')
  })
})

describe('openFolderWithoutLinks', () => {
  let root: string
  let deep: string
  beforeEach(() => {
    root = path.join(fixture.root, 'root')
    deep = path.join(root, 'a/b')
    fs.mkdirSync(deep, { recursive: true })
    fs.mkdirSync(path.join(root, 'secret/b'), { recursive: true })
  })

  const inode = (folder: string): number | undefined => {
    const handle = openFolderWithoutLinks(folder)
    try {
      return handle?.stat().ino
    } finally {
      handle?.close()
    }
  }

  it('finds the folder by each spelling of its path, and by none with a link', () => {
    const { ino } = fs.statSync(deep)
    fs.symlinkSync('a', path.join(root, 'link'))
    fs.symlinkSync('b', path.join(root, 'a/last'))
    for (const spelling of [deep, `${deep}/`, `${root}//a/b`]) expect(inode(spelling)).toBe(ino)
    for (const linked of ['link/b', 'a/last', 'link/last', 'link/../a/last'])
      expect(inode(path.join(root, linked))).toBe(undefined)
    expect(inode(path.join(root, 'missing'))).toBe(undefined)
  })

  it('does not find the folder after a folder above it turns into a link, although the path is the same', () => {
    expect(inode(deep)).toBe(fs.statSync(deep).ino)
    fs.renameSync(path.join(root, 'a'), path.join(root, 'moved'))
    fs.symlinkSync('secret', path.join(root, 'a'))
    expect(inode(deep)).toBe(undefined)
  })

  it('returns a handle that stays with the same folder when a link takes the place of a folder above it', () => {
    const handle = openFolderWithoutLinks(deep)
    fs.renameSync(path.join(root, 'a'), path.join(root, 'moved'))
    fs.symlinkSync('secret', path.join(root, 'a'))
    fs.writeFileSync(handle?.at('file') ?? '', '')
    handle?.close()
    expect(fs.readdirSync(path.join(root, 'moved/b'))).toEqual(['file'])
    expect(fs.readdirSync(path.join(root, 'secret/b'))).toEqual([])
  })

  it('finds neither a removed folder nor a link with the name that the kernel gives to removed folders', () => {
    const removed = path.join(root, 'gone')
    fs.mkdirSync(removed)
    fs.symlinkSync('secret', `${removed} (deleted)`)
    fs.rmdirSync(removed)
    expect(inode(removed)).toBe(undefined)
    expect(inode(`${removed} (deleted)`)).toBe(undefined)
  })

  it('opens a folder whose parents another user owns, even if nobody may list them', ({ skip }) => {
    if (os.userInfo().uid !== 0) return skip('only root can give folders to another user')
    fs.chownSync(path.join(root, 'a'), 65_534, 65_534)
    fs.chmodSync(path.join(root, 'a'), 0o111)
    expect(inode(deep)).toBe(fs.statSync(deep).ino)
  })
})
