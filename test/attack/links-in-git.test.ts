import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { gitWorktrees } from '../../src/world/git/worktrees/git-worktrees.ts'
import {
  type GitFixture,
  NEVER,
  makeCheckpointRequest,
  openGitFixture,
  put,
  savedCheckpoint,
} from '../contracts/git-fixture.ts'
import { forCases } from '../../testkit/vitest/for-cases.ts'

/** Long for a machine with nothing to do, and nothing beside the minutes that git may take. */
const AT_ONCE = 20_000

function begin(fixture: GitFixture): string {
  const repo = fixture.repository('repo')
  put(repo, 'a.txt', 'a\n')
  fixture.git(repo, 'add', '--all')
  fixture.git(repo, 'commit', '--quiet', '--message', 'begin')
  return repo
}

/** Puts something else in the place of a part of `.git`. */
function replace(file: string, make: (file: string) => void): void {
  fs.rmSync(file, { recursive: true, force: true })
  fs.mkdirSync(path.dirname(file), { recursive: true })
  make(file)
}

const LINKS = [
  'logs',
  'logs/HEAD',
  'logs/refs',
  'logs/refs/heads',
  'logs/refs/heads/main',
  'logs/refs/oneshot',
  'logs/refs/oneshot/demo-work',
  'logs/refs/oneshot/demo-work/ID',
  'refs/oneshot',
  'refs/oneshot/demo-work',
  'refs/oneshot/demo-work/ID',
  'objects/aa',
  'objects/pack',
  'objects',
  'refs',
  // Not those of this checkpoint: other commands of ours write them, or remove what is behind them.
  'logs/refs/heads/other',
  'logs/refs/remotes',
  'refs/heads/other',
  'refs/remotes/origin',
  'refs/oneshot-loop',
  'worktrees',
  'worktrees/old',
  'worktrees/old/logs',
  'packed-refs',
  'index',
  'FETCH_HEAD',
  'MERGE_MSG',
  'lfs',
  'lfs/tmp',
] as const

forCases(
  LINKS,
  7,
  'oneshot refuses a repository whose .git/%s is a link, and writes nothing to its target',
  async name => {
    const fixture = openGitFixture()
    const repo = begin(fixture)
    const keeping = fixture.checkpointTarget(repo)
    const isFolder = !/HEAD$|MSG$|main$|ID$|other$|packed-refs$|index$/.test(name)
    const target = path.join(fixture.root, 'precious')
    if (isFolder) put(target, 'kept', 'precious\n')
    else fs.writeFileSync(target, 'precious\n')
    const file = path.join(repo, '.git', name.replace('ID', keeping.sessionId))
    replace(file, place => fs.symlinkSync(target, place))
    const refusal = /is a link|not a git repository|not in a git repository/
    const visible = fixture.checkpoints().save(keeping, makeCheckpointRequest({ isVisible: true }), NEVER)
    await expect(visible).rejects.toThrow(refusal)
    await expect(gitWorktrees({ env: fixture.env }).snapshot(repo)).rejects.toThrow(refusal)
    if (isFolder) expect(fs.readdirSync(target)).toEqual(['kept'])
    else expect(fs.readFileSync(target, 'utf8')).toBe('precious\n')
  },
)

test('a checkpoint writes nothing to a file that has a hard link in .git', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const target = path.join(fixture.root, 'precious')
  fs.writeFileSync(target, 'precious\n')
  for (const name of ['logs/HEAD', 'logs/refs/heads/main', 'FETCH_HEAD', 'MERGE_MSG']) {
    replace(path.join(repo, '.git', name), place => fs.linkSync(target, place))
    const visible = fixture
      .checkpoints()
      .save(fixture.checkpointTarget(repo), makeCheckpointRequest({ isVisible: true }), NEVER)
    await expect(visible).rejects.toThrow('second name')
    fs.rmSync(path.join(repo, '.git', name))
  }
  expect(fs.readFileSync(target, 'utf8')).toBe('precious\n')
})

test('a checkpoint refuses a link that took the place of a log after an earlier checkpoint', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const keeping = fixture.checkpointTarget(repo)
  const checkpoints = fixture.checkpoints()
  await savedCheckpoint(checkpoints.save(keeping, makeCheckpointRequest({ isVisible: true }), NEVER))
  const target = path.join(fixture.root, 'precious')
  fs.writeFileSync(target, 'precious\n')
  replace(path.join(repo, '.git/logs/HEAD'), place => fs.symlinkSync(target, place))
  put(repo, 'a.txt', 'changed\n')
  const visible = fixture.checkpoints().save(keeping, makeCheckpointRequest({ isVisible: true }), NEVER)
  await expect(visible).rejects.toThrow('is a link')
  expect(fs.readFileSync(target, 'utf8')).toBe('precious\n')
})

test('a checkpoint accepts links that git itself makes or only reads: hooks, and symbolic refs of old versions', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const shared = path.join(fixture.root, 'hooks')
  fs.mkdirSync(shared)
  replace(path.join(repo, '.git/hooks'), place => fs.symlinkSync(shared, place))
  replace(path.join(repo, '.git/HEAD'), place => fs.symlinkSync('refs/heads/main', place))
  replace(path.join(repo, '.git/refs/remotes/origin/HEAD'), place => fs.symlinkSync('refs/remotes/origin/main', place))
  await savedCheckpoint(
    fixture.checkpoints().save(fixture.checkpointTarget(repo), makeCheckpointRequest({ isVisible: true }), NEVER),
  )
})

test('a checkpoint does not move a branch to which somebody pointed the session’s ref', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const keeping = fixture.checkpointTarget(repo)
  const head = fixture.git(repo, 'rev-parse', 'main')
  await savedCheckpoint(fixture.checkpoints().save(keeping, makeCheckpointRequest(), NEVER))
  fixture.git(repo, 'symbolic-ref', `refs/oneshot/${keeping.name}/${keeping.sessionId}`, 'refs/heads/main')
  put(repo, 'b.txt', 'b\n')
  await fixture.checkpoints().save(keeping, makeCheckpointRequest(), NEVER)
  expect(fixture.git(repo, 'rev-parse', 'main')).toBe(head)
})

const FILES = [
  '.git/HEAD',
  '.git/config',
  '.git/index',
  '.git/packed-refs',
  '.git/info/exclude',
  '.git/info/attributes',
  '.git/commondir',
  '.gitignore',
  '.gitattributes',
  '.gitmodules',
  '.mailmap',
  '.lfsconfig',
  '.git/info/grafts',
  '.git/shallow',
  '.git/CHERRY_PICK_HEAD',
  '.git/refs/heads/other',
  '.git/worktrees/old/gitdir',
  '.git/rebase-merge/head-name',
  'deep/down/.gitignore',
  'deep/down/.gitattributes',
  'other/.git/HEAD',
] as const

forCases(FILES, 7, 'oneshot does not hang at a pipe in the place of %s', async name => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  put(repo, 'deep/down/b.txt', 'b\n')
  replace(path.join(repo, name), file => void execFileSync('mkfifo', [file]))
  const begun = Date.now()
  const outcome = await fixture
    .checkpoints()
    .save(fixture.checkpointTarget(repo), makeCheckpointRequest(), NEVER)
    .catch(String)
  const survey = await gitWorktrees({ env: fixture.env }).inspect(repo).catch(String)
  expect(Date.now() - begun).toBeLessThan(AT_ONCE)
  for (const said of [outcome, survey]) {
    if (typeof said === 'string')
      expect(said).toMatch(/is not a file|cannot be read|neither a file nor a folder|is a pipe or a device/)
  }
  if (!name.startsWith('other')) expect(typeof outcome).toBe('string')
})

test.each(['a pipe', 'a link to a pipe'])(
  'a checkpoint in a linked worktree refuses %s in the place of an object at once',
  async kind => {
    const fixture = openGitFixture()
    const main = begin(fixture)
    const repo = path.join(fixture.root, 'linked')
    fixture.git(main, 'worktree', 'add', '--quiet', repo)
    const tree = fixture.git(main, 'rev-parse', 'HEAD^{tree}').trim()
    const pipe = path.join(fixture.root, 'pipe')
    execFileSync('mkfifo', [pipe])
    replace(path.join(main, '.git/objects', tree.slice(0, 2), tree.slice(2)), place =>
      kind === 'a pipe' ? fs.linkSync(pipe, place) : fs.symlinkSync(pipe, place),
    )
    const begun = Date.now()
    const saving = fixture.checkpoints().save(fixture.checkpointTarget(repo), makeCheckpointRequest(), NEVER)
    await expect(saving).rejects.toThrow('neither a file nor a folder')
    expect(Date.now() - begun).toBeLessThan(AT_ONCE)
  },
)

test.each(['.git/HEAD', '.git/config', '.git/info/exclude', '.gitignore'])(
  'a checkpoint refuses an endless file or a device in the place of %s',
  async name => {
    const fixture = openGitFixture()
    const repo = begin(fixture)
    replace(path.join(repo, name), file => {
      fs.writeFileSync(file, '')
      fs.truncateSync(file, 2 ** 33)
    })
    await expect(
      fixture.checkpoints().save(fixture.checkpointTarget(repo), makeCheckpointRequest(), NEVER),
    ).rejects.toThrow('is longer than')
    replace(path.join(repo, name), file => fs.symlinkSync('/dev/zero', file))
    await expect(
      fixture.checkpoints().save(fixture.checkpointTarget(repo), makeCheckpointRequest(), NEVER),
    ).rejects.toThrow('is not a file')
  },
)

/** Ways to have a project belong to another repository of the same user. */
const SWAPS: Readonly<Record<string, (repo: string, other: string) => void>> = {
  'a .git file': (repo, other) => {
    fs.renameSync(path.join(repo, '.git'), path.join(repo, 'was-git'))
    fs.writeFileSync(path.join(repo, '.git'), `gitdir: ${other}/.git\n`)
  },
  'a .git link': (repo, other) => {
    fs.renameSync(path.join(repo, '.git'), path.join(repo, 'was-git'))
    fs.symlinkSync(path.join(other, '.git'), path.join(repo, '.git'))
  },
  'a commondir': (repo, other) => fs.writeFileSync(path.join(repo, '.git/commondir'), `${other}/.git\n`),
  'a link to its objects': (repo, other) =>
    replace(path.join(repo, '.git/objects'), place => fs.symlinkSync(path.join(other, '.git/objects'), place)),
  'a list of alternates': (repo, other) =>
    fs.writeFileSync(path.join(repo, '.git/objects/info/alternates'), `${other}/.git/objects\n`),
}

test.each(Object.entries(SWAPS))(
  'a checkpoint refuses a project that %s has led to another repository since the session began, and does not change that one',
  async (_, swap) => {
    const fixture = openGitFixture()
    const repo = begin(fixture)
    const keeping = fixture.checkpointTarget(repo)
    const checkpoints = fixture.checkpoints()
    await savedCheckpoint(checkpoints.save(keeping, makeCheckpointRequest(), NEVER))
    const other = fixture.repository('other')
    put(other, 'o.txt', 'o\n')
    fixture.git(other, 'add', '--all')
    fixture.git(other, 'commit', '--quiet', '--message', 'other')
    const before = fixture.git(other, 'for-each-ref') + fixture.git(other, 'count-objects', '--verbose')
    swap(repo, other)
    put(repo, 'b.txt', 'b\n')
    // The supervisor that has saved it before, and one that was started anew.
    for (const who of [checkpoints, fixture.checkpoints()]) {
      const refused = who.save(keeping, makeCheckpointRequest({ isVisible: true }), NEVER)
      await expect(refused).rejects.toThrow('another repository')
    }
    expect(fixture.git(other, 'for-each-ref') + fixture.git(other, 'count-objects', '--verbose')).toBe(before)
  },
)

test('a checkpoint in a subfolder refuses another repository to which a new or a removed .git leads', async () => {
  const fixture = openGitFixture()
  const around = fixture.repository('home')
  const repo = fixture.repository('home/repo')
  put(repo, 'sub/a.txt', 'a\n')
  const keeping = fixture.checkpointTarget(path.join(repo, 'sub'))
  await savedCheckpoint(fixture.checkpoints().save(keeping, makeCheckpointRequest(), NEVER))
  const other = fixture.repository('other')
  fs.writeFileSync(path.join(repo, 'sub/.git'), `gitdir: ${other}/.git\n`)
  await expect(fixture.checkpoints().save(keeping, makeCheckpointRequest(), NEVER)).rejects.toThrow(
    'another repository',
  )
  fs.rmSync(path.join(repo, 'sub/.git'))
  fs.rmSync(path.join(repo, '.git'), { recursive: true })
  await expect(fixture.checkpoints().save(keeping, makeCheckpointRequest(), NEVER)).rejects.toThrow(
    'another repository',
  )
  for (const one of [other, around]) expect(fixture.git(one, 'for-each-ref')).toBe('')
})

test('a checkpoint writes nothing into another repository to which the .git of a submodule leads', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const source = fixture.repository('source')
  put(source, 's.txt', 's\n')
  fixture.git(source, 'add', '--all')
  fixture.git(source, 'commit', '--quiet', '--message', 'source')
  fixture.git(repo, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', source, 'sub')
  fixture.git(repo, 'commit', '--quiet', '--message', 'with sub')
  put(repo, 'sub/s.txt', 'changed\n')
  const keeping = fixture.checkpointTarget(repo)
  const first = await savedCheckpoint(fixture.checkpoints().save(keeping, makeCheckpointRequest(), NEVER))
  expect(first.leftOut).toEqual([])
  const before = fixture.git(source, 'for-each-ref')
  const swaps = [
    (place: string) => fs.writeFileSync(place, `gitdir: ${source}/.git\n`),
    (place: string) => fs.symlinkSync(path.join(source, '.git'), place),
  ]
  for (const [at, swap] of swaps.entries()) {
    replace(path.join(repo, 'sub/.git'), swap)
    put(repo, 'sub/s.txt', `changed again ${at}\n`)
    put(repo, 'a.txt', `changed again ${at}\n`)
    const nested = { ...keeping, nested: true }
    const { leftOut } = await savedCheckpoint(fixture.checkpoints().save(nested, makeCheckpointRequest(), NEVER))
    expect(leftOut.join()).toContain('its .git leads to another repository')
  }
  expect(fixture.git(source, 'for-each-ref')).toBe(before)
})

test('a checkpoint still saves a project that somebody moved or whose repository somebody made again', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const keeping = fixture.checkpointTarget(repo)
  await savedCheckpoint(fixture.checkpoints().save(keeping, makeCheckpointRequest(), NEVER))
  fs.rmSync(path.join(repo, '.git'), { recursive: true })
  fixture.repository('repo')
  await savedCheckpoint(fixture.checkpoints().save(keeping, makeCheckpointRequest(), NEVER))
  const moved = path.join(fixture.root, 'moved')
  fs.renameSync(repo, moved)
  put(moved, 'b.txt', 'b\n')
  await savedCheckpoint(fixture.checkpoints().save({ ...keeping, cwd: moved }, makeCheckpointRequest(), NEVER))
})

test('a loop does not write into another repository when the .git of its checkout comes to name that one', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const worktrees = gitWorktrees({ env: fixture.env })
  await worktrees.snapshot(repo, 'demo/first')
  const other = fixture.repository('other')
  fs.renameSync(path.join(repo, '.git'), path.join(repo, 'was-git'))
  fs.writeFileSync(path.join(repo, '.git'), `gitdir: ${other}/.git\n`)
  await expect(worktrees.snapshot(repo, 'demo/second')).rejects.toThrow('another repository')
  expect(fixture.git(other, 'for-each-ref')).toBe('')
})

test('checkpoints and restores refuse a working tree that the configuration puts elsewhere', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const keeping = fixture.checkpointTarget(repo)
  const checkpoints = fixture.checkpoints()
  const first = await savedCheckpoint(checkpoints.save(keeping, makeCheckpointRequest(), NEVER))
  const home = path.join(fixture.root, 'precious')
  put(home, 'secret', 'precious\n')
  put(repo, 'a.txt', 'changed\n')
  const second = await savedCheckpoint(checkpoints.save(keeping, makeCheckpointRequest(), NEVER))
  fixture.git(repo, 'config', 'core.worktree', home)
  await expect(checkpoints.save(keeping, makeCheckpointRequest(), NEVER)).rejects.toThrow('not where its repository is')
  await expect(checkpoints.restoreInPlace(keeping, first, second)).rejects.toThrow('not where its repository is')
  // git does not look for it in a file that is included.
  put(repo, '.git/more', `[core]\n\tworktree = ${repo}\n`)
  fs.appendFileSync(path.join(repo, '.git/config'), '[include]\n\tpath = more\n')
  await expect(fixture.checkpoints().save(keeping, makeCheckpointRequest(), NEVER)).rejects.toThrow(
    'not where its repository is',
  )
  await expect(checkpoints.restoreInPlace(keeping, first, second)).rejects.toThrow('not where its repository is')
  expect(fs.readdirSync(home)).toEqual(['secret'])
})

test('a loop writes its files in .git behind no link, and follows no link in the place of its index', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const worktrees = gitWorktrees({ env: fixture.env })
  const target = path.join(fixture.root, 'precious')
  fs.mkdirSync(target)
  await worktrees.snapshot(repo)
  for (const name of ['oneshot/looks', 'oneshot']) {
    replace(path.join(repo, '.git', name), place => fs.symlinkSync(target, place))
    await expect(worktrees.snapshot(repo)).rejects.toThrow('a link leads to it')
  }
  expect(fs.readdirSync(target)).toEqual([])
  fs.rmSync(path.join(repo, '.git/oneshot'))
  await worktrees.snapshot(repo)
  const looks = path.join(repo, '.git/oneshot/looks')
  const victim = path.join(target, 'victim')
  fs.writeFileSync(victim, 'precious', { mode: 0o644 })
  for (const name of fs.readdirSync(looks)) replace(path.join(looks, name), place => fs.symlinkSync(victim, place))
  await worktrees.snapshot(repo).catch(() => undefined) // It may say no; it may as well begin anew.
  expect(fs.readFileSync(victim, 'utf8')).toBe('precious')
  expect(fs.statSync(victim).mode & 0o777).toBe(0o644)
})
