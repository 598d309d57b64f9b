import { execFileSync, spawn } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { forCases } from '../../testkit/vitest/for-cases.ts'
import { GitCheckpoints } from '../../src/world/git/checkpoint/git-checkpoints.ts'
import { workWithin } from '../../src/world/git/work-since.ts'
import { gitWorktrees } from '../../src/world/git/worktrees/git-worktrees.ts'
import { which } from '../../src/os/which.ts'
import {
  type GitFixture,
  NEVER,
  makeCheckpointRequest,
  openGitFixture,
  put,
  savedCheckpoint,
} from '../contracts/git-fixture.ts'
import { openWorktreesFixture } from '../contracts/worktrees-fixture.ts'

/** A program that leaves a mark when anybody runs it. */
function trap(root: string, end = 'exec cat'): { program: string; expectUnsprung: () => void } {
  const mark = path.join(root, 'pwned')
  const program = path.join(root, 'trap.sh')
  fs.writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> ${mark}\n${end}\n`, { mode: 0o755 })
  return { program, expectUnsprung: () => expect(fs.existsSync(mark) ? fs.readFileSync(mark, 'utf8') : '').toBe('') }
}

/** All that a configuration can have git run. */
function hostileConfig(program: string): string {
  return `
[filter "evil"]
\tclean = ${program} clean
\tsmudge = ${program} smudge
\tprocess = ${program} process
\trequired = true
[core]
\tsshCommand = ${program} ssh
\tgitProxy = ${program}
\taskPass = ${program}
\tfsmonitor = ${program}
\thooksPath = ${path.dirname(program)}/hooks
\tpager = ${program}
\teditor = ${program}
\talternateRefsCommand = ${program}
\tattributesFile = ${path.dirname(program)}/attributes
[credential]
\thelper = ${program}
[credential "https://example.org"]
\thelper = !${program}
[protocol "ext"]
\tallow = always
[diff]
\texternal = ${program}
[diff "evil"]
\tcommand = ${program}
\ttextconv = ${program}
[merge "evil"]
\tdriver = ${program} %A %O %B
[gpg]
\tprogram = ${program}
[commit]
\tgpgSign = true
[log]
\tshowSignature = true
[uploadpack]
\tpackObjectsHook = ${program}
`
}

const ATTRIBUTES = '* filter=evil diff=evil merge=evil\n'

test('a checkpoint, a diff, a comparison and a restore run no program that the repository’s configuration names', async () => {
  const bench = openGitFixture()
  const { program, expectUnsprung } = trap(bench.root)
  const repo = bench.repository('repo')
  put(repo, 'a.txt', 'a\n')
  bench.git(repo, 'add', '--all')
  bench.git(repo, 'commit', '--quiet', '--message', 'begin')
  const begun = Date.now() - 60_000
  const target = bench.checkpointTarget(repo)
  const checkpoints = bench.checkpoints()
  const first = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  const included = path.join(repo, 'more.config')
  put(repo, 'more.config', hostileConfig(program).replaceAll('evil', 'other'))
  fs.appendFileSync(path.join(repo, '.git/config'), `${hostileConfig(program)}[include]\n\tpath = ${included}\n`)
  put(repo, '.gitattributes', `${ATTRIBUTES}*.md filter=other\n`)
  for (const name of ['a.txt', 'b.txt', 'c.md']) put(repo, name, `${name} is new\n`)
  const second = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  expect(bench.git(repo, 'cat-file', 'blob', `${second.commit}:c.md`)).toBe('c.md is new\n')
  // A file that is included is changed by itself.
  fs.writeFileSync(included, hostileConfig(program).replaceAll('evil', 'third'))
  put(repo, '.gitattributes', '* filter=third diff=third merge=third\n')
  put(repo, 'd.txt', 'd\n')
  const third = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest({ isVisible: true }), NEVER))
  expect(await checkpoints.diff(target, first.commit, third.commit, { stat: false })).toContain('+d')
  await checkpoints.compareWorktree(target, null)
  await checkpoints.restoreInPlace(target, second, third)
  await checkpoints.restoreToBranch(target, second, { branch: 'beside', worktree: path.join(bench.root, 'beside') })
  await workWithin(repo, { since: begun, until: null })
  expectUnsprung()
})

test('a checkpoint runs the user’s own filters, and a repository cannot replace them', async () => {
  const bench = openGitFixture()
  const { program, expectUnsprung } = trap(bench.root)
  const repo = bench.repository('repo')
  bench.git(repo, 'config', '--global', 'filter.mine.clean', 'tr a-z A-Z')
  bench.git(repo, 'config', '--global', 'filter.both.clean', 'tr a-z A-Z')
  bench.git(repo, 'config', 'filter.both.clean', program)
  put(repo, '.gitattributes', '*.mine filter=mine\n*.both filter=both\n')
  put(repo, 'a.mine', 'abc\n')
  put(repo, 'a.both', 'abc\n')
  const { commit } = await savedCheckpoint(
    bench.checkpoints().save(bench.checkpointTarget(repo), makeCheckpointRequest(), NEVER),
  )
  for (const name of ['a.mine', 'a.both'])
    expect(bench.git(repo, 'cat-file', 'blob', `${commit}:${name}`)).toBe('ABC\n')
  expectUnsprung()
})

test('a checkpoint does not save a repository inside the working tree unless the user asks for it', async () => {
  const bench = openGitFixture()
  const { program, expectUnsprung } = trap(bench.root)
  const repo = bench.repository('repo')
  const inner = bench.repository('repo/inner')
  put(inner, 'n.txt', 'n\n')
  bench.git(inner, 'add', '--all')
  bench.git(inner, 'commit', '--quiet', '--message', 'inner')
  const head = bench.git(inner, 'rev-parse', 'HEAD').trim()
  fs.appendFileSync(path.join(inner, '.git/config'), hostileConfig(program))
  put(inner, '.gitattributes', ATTRIBUTES)
  put(inner, 'n.txt', 'changed\n')
  const target = bench.checkpointTarget(repo)
  const checkpoints = bench.checkpoints()
  const made = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  expect(made.leftOut).toEqual([
    'inner is another repository, and oneshot records only its HEAD (nested = true saves it)',
  ])
  expect(bench.git(repo, 'ls-tree', made.commit, 'inner')).toContain(`160000 commit ${head}`)
  expect(bench.git(inner, 'for-each-ref', 'refs/oneshot')).toBe('')
  const again = await savedCheckpoint(checkpoints.save({ ...target, nested: true }, makeCheckpointRequest(), NEVER))
  expect(again.leftOut).toEqual([])
  expect(bench.git(inner, 'for-each-ref', 'refs/oneshot')).not.toBe('')
  expectUnsprung()
})

test('oneshot runs no program that the configuration of a submodule names', async () => {
  const bench = openGitFixture()
  const { program, expectUnsprung } = trap(bench.root)
  const repo = bench.repository('repo')
  const source = bench.repository('source')
  put(source, 's.txt', 's\n')
  bench.git(source, 'add', '--all')
  bench.git(source, 'commit', '--quiet', '--message', 'source')
  bench.git(repo, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', source, 'sub')
  bench.git(repo, 'commit', '--quiet', '--message', 'with sub')
  fs.appendFileSync(path.join(repo, '.git/modules/sub/config'), hostileConfig(program))
  for (const folder of [repo, path.join(repo, 'sub')]) put(folder, '.gitattributes', ATTRIBUTES)
  put(repo, 'sub/s.txt', 'changed\n')
  const begun = Date.now() - 60_000
  const checkpoints = bench.checkpoints()
  const target = bench.checkpointTarget(repo)
  const first = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  for (const [key, value] of [
    ['diff.submodule', 'diff'],
    ['diff.ignoreSubmodules', 'none'],
    ['submodule.sub.ignore', 'none'],
    ['status.submoduleSummary', 'true'],
    ['submodule.recurse', 'true'],
    ['submodule.sub.update', `!${program}`],
  ] as const)
    bench.git(repo, 'config', key, value)
  put(repo, 'sub/s.txt', 'changed again\n')
  const second = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  expect(await checkpoints.diff(target, first.commit, second.commit, { stat: false })).toContain('changed again')
  await workWithin(repo, { since: begun, until: null })
  await checkpoints.compareWorktree(target, null)
  await checkpoints.restoreInPlace(target, first, second)
  const worktrees = gitWorktrees({ env: bench.env })
  await worktrees.inspect(repo)
  await worktrees.snapshot(repo)
  expectUnsprung()
})

test('a push goes to the address that its remote had at the start, runs no program, and refuses addresses that run one', async () => {
  const bench = openGitFixture()
  const { program, expectUnsprung } = trap(bench.root)
  const repo = bench.repository('repo')
  put(repo, 'a.txt', 'a\n')
  const [hub, other] = ['hub.git', 'other.git'].map(name => path.join(bench.root, name)) as [string, string]
  for (const bare of [hub, other]) bench.git(bench.root, 'init', '--quiet', '--bare', bare)
  bench.git(repo, 'remote', 'add', 'origin', hub)
  const target = bench.checkpointTarget(repo)
  const checkpoints = bench.checkpoints()
  await checkpoints.save(target, makeCheckpointRequest(), NEVER)
  bench.git(repo, 'remote', 'set-url', 'origin', other)
  const config = path.join(repo, '.git/config')
  fs.appendFileSync(config, hostileConfig(program))
  fs.appendFileSync(
    config,
    `[remote "origin"]\n\tpushurl = ext::${program} %S\n\treceivepack = ${program}\n\tuploadpack = ${program}\n\tvcs = ext\n`,
  )
  await checkpoints.push(target, 'origin', {}, NEVER)
  expect(bench.git(hub, 'for-each-ref', 'refs/oneshot')).toContain(target.sessionId)
  expect(bench.git(other, 'for-each-ref')).toBe('')
  await checkpoints.fetch(repo, { remote: hub, env: {} }, all => all, NEVER)
  bench.git(repo, 'config', '--replace-all', 'remote.late.url', `ext::${program} %S`)
  for (const remote of ['late', `ext::${program} %S`]) {
    const why = remote === 'late' ? 'when the session began' : 'would have git run a command'
    await expect(checkpoints.push(target, remote, {}, NEVER)).rejects.toThrow(why)
    await expect(checkpoints.fetch(repo, { remote, env: {} }, all => all, NEVER)).rejects.toThrow(
      'would have git run a command',
    )
  }
  fs.appendFileSync(config, `[url "${other}"]\n\tinsteadOf = ${hub}\n`)
  await expect(checkpoints.push(target, 'origin', {}, NEVER)).rejects.toThrow('leads elsewhere')
  expectUnsprung()
})

test('a push shows the password in the address of a remote in no argument list and no error', async () => {
  const bench = openGitFixture()
  const repo = bench.repository('repo')
  put(repo, 'a.txt', 'a\n')
  const bin = path.join(bench.root, 'bin')
  const lines = path.join(bench.root, 'lines')
  fs.mkdirSync(bin)
  const real = bench.git(repo, '--exec-path').trim()
  fs.writeFileSync(path.join(bin, 'git'), `#!/bin/sh\necho "$*" >> ${lines}\nexec ${real}/git "$@"\n`, { mode: 0o755 })
  const url = 'http://me:hunter2hunter2@127.0.0.1:9/x.git'
  bench.git(repo, 'remote', 'add', 'origin', url)
  const env = { ...bench.env, PATH: `${bin}:${bench.env['PATH']}` }
  const checkpoints = new GitCheckpoints({ env, folderOf: id => path.join(bench.state, id) })
  const target = bench.checkpointTarget(repo)
  await checkpoints.save(target, makeCheckpointRequest(), NEVER)
  for (const remote of ['origin', url]) {
    const trouble = await checkpoints.push(target, remote, {}, NEVER).catch(String)
    expect(trouble).toMatch(/push/)
    expect(trouble).not.toContain('hunter2')
  }
  expect(fs.readFileSync(lines, 'utf8')).toContain('ls-remote')
  expect(fs.readFileSync(lines, 'utf8')).not.toContain('hunter2')
})

test('a loop’s worktrees, merges and landing run no program of the repository and ignore its merge options', async () => {
  const { repo, shop: worktrees, bench, head, commit, root } = openWorktreesFixture()
  const { program, expectUnsprung } = trap(root)
  commit(repo, '.gitattributes', ATTRIBUTES)
  fs.appendFileSync(path.join(repo, '.git/config'), hostileConfig(program))
  fs.appendFileSync(path.join(repo, '.git/config'), '[branch "oneshot/demo/all"]\n\tmergeOptions = -s ours\n')
  const [all, one] = [bench('all'), bench('one')]
  await worktrees.open(repo, all, head(repo))
  await worktrees.open(repo, one, head(repo))
  put(one.path, 'a.txt', 'a\nb\n')
  await worktrees.commitAll(one, 'one', [], head(repo))
  put(all.path, 'b.txt', 'b\n')
  await worktrees.commitAll(all, 'all', [], head(repo))
  expect(await worktrees.merge(all, one.branch, 'merge')).toMatchObject({ kind: 'merged' })
  await worktrees.land(repo, all.branch, 'land')
  expect(fs.readFileSync(path.join(repo, 'a.txt'), 'utf8')).toBe('a\nb\n')
  expectUnsprung()
})

test.each(['.', 'sub'])(
  'a checkpoint runs no program of a bare repository that somebody put at %s in the working tree',
  async at => {
    const bench = openGitFixture()
    const { program, expectUnsprung } = trap(bench.root)
    const repo = bench.repository('repo')
    put(repo, 'sub/a.txt', 'a\n')
    const target = bench.checkpointTarget(path.join(repo, at))
    const checkpoints = bench.checkpoints()
    await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
    const bare = path.join(repo, at)
    for (const name of ['HEAD', 'config', 'objects', 'refs'])
      fs.cpSync(path.join(repo, '.git', name), path.join(bare, name), { recursive: true })
    fs.appendFileSync(path.join(bare, 'config'), `${hostileConfig(program)}[core]\n\tworktree = ${repo}\n`)
    put(repo, '.gitattributes', ATTRIBUTES)
    put(repo, 'b.txt', 'b\n')
    // git looks for another one where this is none.
    fs.writeFileSync(path.join(repo, '.git/HEAD'), 'nothing\n')
    for (const who of [checkpoints, bench.checkpoints()])
      await expect(who.save(target, makeCheckpointRequest(), NEVER)).rejects.toThrow(
        /bare repository|not (in )?a git repository/,
      )
    expectUnsprung()
  },
)

test('oneshot runs no program of a .git/config that a folder had before oneshot made it a repository', async () => {
  const bench = openGitFixture()
  const { program, expectUnsprung } = trap(bench.root)
  const folder = path.join(bench.root, 'folder')
  put(folder, '.git/config', hostileConfig(program))
  put(folder, '.gitattributes', ATTRIBUTES)
  put(folder, 'a.txt', 'a\n')
  const worktrees = gitWorktrees({ env: bench.env })
  await worktrees.initRepository(folder)
  await worktrees.snapshot(folder)
  expectUnsprung()
})

test('oneshot reads a .git file with a carriage return as git does, and runs no program of the configuration that it names', async () => {
  const bench = openGitFixture()
  const { program, expectUnsprung } = trap(bench.root)
  const repo = bench.repository('repo')
  const [real, decoy] = [path.join(bench.root, 'real'), path.join(bench.root, 'real\r')]
  fs.renameSync(path.join(repo, '.git'), real)
  fs.cpSync(real, decoy, { recursive: true })
  fs.appendFileSync(path.join(real, 'config'), hostileConfig(program))
  fs.writeFileSync(path.join(repo, '.git'), `gitdir: ${real}\r\n`)
  put(repo, '.gitattributes', ATTRIBUTES)
  put(repo, 'a.txt', 'a\n')
  await savedCheckpoint(bench.checkpoints().save(bench.checkpointTarget(repo), makeCheckpointRequest(), NEVER))
  expectUnsprung()
})

/** A clone whose blobs are still with the repository that it was made from. */
function partialClone(fixture: GitFixture): { repo: string; source: string } {
  const source = fixture.repository('source')
  put(source, 'a.txt', 'a\n')
  fixture.git(source, 'add', '--all')
  fixture.git(source, 'commit', '--quiet', '--message', 'begin')
  put(source, 'a.txt', 'aa\n')
  fixture.git(source, 'commit', '--quiet', '--all', '--message', 'further')
  fixture.git(source, 'config', 'uploadpack.allowFilter', 'true')
  const repo = path.join(fixture.root, 'repo')
  fixture.git(fixture.root, 'clone', '--quiet', '--no-local', '--filter=blob:none', `file://${source}`, repo)
  return { repo, source }
}

test('oneshot saves, compares and restores a partial clone', async () => {
  const bench = openGitFixture()
  const { repo } = partialClone(bench)
  const target = bench.checkpointTarget(repo)
  const checkpoints = bench.checkpoints()
  const first = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  put(repo, 'a.txt', 'changed\n')
  const second = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  expect(await checkpoints.diff(target, first.commit, second.commit, { stat: false })).toContain('-aa')
  bench.git(repo, 'checkout', '--quiet', '--force', 'HEAD')
  await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  await checkpoints.restoreToBranch(target, second, { branch: 'beside', worktree: path.join(bench.root, 'beside') })
  expect(fs.readFileSync(path.join(bench.root, 'beside/a.txt'), 'utf8')).toBe('changed\n')
})

test('oneshot runs no program for missing objects that a repository promises from an ext:: address, even if the user allows ext', async () => {
  const bench = openGitFixture()
  const { program, expectUnsprung } = trap(bench.root)
  const { repo } = partialClone(bench)
  bench.git(repo, 'config', '--global', 'protocol.ext.allow', 'always')
  const target = bench.checkpointTarget(repo)
  const checkpoints = bench.checkpoints()
  const first = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  fs.appendFileSync(
    path.join(repo, '.git/config'),
    `[remote "origin"]\n\turl = ext::${program} %S\n\tuploadpack = ${program}\n[protocol "ext"]\n\tallow = always\n`,
  )
  bench.git(repo, 'config', '--replace-all', 'remote.origin.url', `ext::${program} %S`)
  // HEAD is a commit whose blob was never fetched.
  fs.writeFileSync(path.join(repo, '.git/refs/heads/main'), bench.git(repo, 'rev-parse', 'HEAD~1'))
  put(repo, 'a.txt', 'changed\n')
  const second = await checkpoints.save(target, makeCheckpointRequest(), NEVER).catch(() => null)
  await checkpoints.compareWorktree(target, null).catch(() => null)
  if (second !== null) await checkpoints.restoreInPlace(target, first, second.checkpoint).catch(() => null)
  const branch = { branch: 'beside', worktree: path.join(bench.root, 'beside') }
  await checkpoints.restoreToBranch(target, first, branch).catch(() => null)
  const worktrees = gitWorktrees({ env: bench.env })
  await worktrees.snapshot(repo).catch(() => null)
  const old = bench.git(repo, 'rev-parse', 'HEAD').trim()
  await worktrees.open(repo, { branch: 'demo/one', path: path.join(bench.root, 'one') }, old).catch(() => null)
  expectUnsprung()
})

test('oneshot runs no program that a repository names for a fetch of missing objects', async () => {
  const bench = openGitFixture()
  const { program, expectUnsprung } = trap(bench.root)
  const { repo } = partialClone(bench)
  const target = bench.checkpointTarget(repo)
  const checkpoints = bench.checkpoints()
  const first = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  // git uses the first of several values, and the second looks harmless.
  fs.appendFileSync(
    path.join(repo, '.git/config'),
    `[remote "origin"]\n\tuploadpack = ${program}\n\tuploadpack = git-upload-pack\n`,
  )
  // HEAD is a commit whose blob was never fetched.
  fs.writeFileSync(path.join(repo, '.git/refs/heads/main'), bench.git(repo, 'rev-parse', 'HEAD~1'))
  put(repo, 'a.txt', 'changed\n')
  const second = await checkpoints.save(target, makeCheckpointRequest(), NEVER).catch(() => null)
  await checkpoints.compareWorktree(target, null).catch(() => null)
  if (second !== null) await checkpoints.restoreInPlace(target, first, second.checkpoint).catch(() => null)
  const branch = { branch: 'beside', worktree: path.join(bench.root, 'beside') }
  await checkpoints.restoreToBranch(target, first, branch).catch(() => null)
  const worktrees = gitWorktrees({ env: bench.env })
  await worktrees.snapshot(repo).catch(() => null)
  const old = bench.git(repo, 'rev-parse', 'HEAD').trim()
  await worktrees.open(repo, { branch: 'demo/one', path: path.join(bench.root, 'one') }, old).catch(() => null)
  expectUnsprung()
})

/** A repository that has a trap in the place of the program for its own missing objects. */
function trappedRepository(fixture: GitFixture, folder: string, program: string): void {
  fs.mkdirSync(folder, { recursive: true })
  fixture.git(folder, 'init', '--quiet', '--bare', '.')
  fs.writeFileSync(
    path.join(folder, 'config'),
    `[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tpartialClone = up\n[uploadpack]\n\tallowAnySHA1InWant = true\n\tallowFilter = true\n\tpackObjectsHook = ${program}\n[remote "up"]\n\turl = file:///x\n\tpromisor = true\n\tuploadpack = ${program}\n`,
  )
}

/** A session and a loop that began in a repository; `fetchMissing` makes each of them check out a file that git lacks. */
async function beginWork(fixture: GitFixture, repo: string): Promise<{ fetchMissing: () => Promise<string[]> }> {
  const target = fixture.checkpointTarget(repo)
  const checkpoints = fixture.checkpoints()
  const worktrees = gitWorktrees({ env: fixture.env, recordFolder: path.join(fixture.state, 'loop') })
  await worktrees.inspect(repo)
  const first = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  const fetchMissing = async (): Promise<string[]> => {
    const blob = fixture.git(repo, 'rev-parse', 'HEAD:a.txt').trim()
    fs.rmSync(path.join(repo, '.git/objects', blob.slice(0, 2), blob.slice(2)), { force: true })
    fs.rmSync(path.join(repo, 'a.txt'), { force: true })
    const restored = async (branch: string): Promise<string> => {
      const worktree = path.join(fixture.root, branch)
      await checkpoints.restoreToBranch(target, first, { branch, worktree })
      return fs.readFileSync(path.join(worktree, 'a.txt'), 'utf8')
    }
    const inPlace = async (): Promise<string> => {
      const { checkpoint } = await checkpoints.save(target, makeCheckpointRequest(), NEVER)
      await checkpoints.restoreInPlace(target, first, checkpoint)
      return fs.readFileSync(path.join(repo, 'a.txt'), 'utf8')
    }
    const opened = async (by: typeof worktrees, name: string): Promise<string> => {
      const folder = path.join(fixture.root, name)
      await by.open(repo, { branch: `demo/${name}`, path: folder }, 'HEAD')
      return fs.readFileSync(path.join(folder, 'a.txt'), 'utf8')
    }
    const restarted = gitWorktrees({ env: fixture.env, recordFolder: path.join(fixture.state, 'loop') })
    const results: string[] = []
    for (const act of [
      () => opened(worktrees, 'one'),
      () => opened(restarted, 'two'),
      () => restored('beside'),
      inPlace,
    ])
      results.push(await act().catch(() => 'failed'))
    await worktrees.snapshot(repo).catch(() => null)
    return results
  }
  return { fetchMissing }
}

const ALL_FAILED = ['failed', 'failed', 'failed', 'failed']

/** Makes a repository a partial clone of an address. */
function promise(fixture: GitFixture, repo: string, url: string): void {
  for (const [key, value] of [
    ['core.repositoryFormatVersion', '1'],
    ['extensions.partialClone', 'origin'],
    ['remote.origin.promisor', 'true'],
    ['remote.origin.url', url],
  ] as const)
    fixture.git(repo, 'config', key, value)
}

function committed(fixture: GitFixture): string {
  const repo = fixture.repository('repo')
  put(repo, 'a.txt', 'only here\n')
  fixture.git(repo, 'add', '--all')
  fixture.git(repo, 'commit', '--quiet', '--message', 'begin')
  return repo
}

test('restores and loops fetch what an honest partial clone lacks', async () => {
  const bench = openGitFixture()
  const { repo } = partialClone(bench)
  const { fetchMissing } = await beginWork(bench, repo)
  bench.git(repo, 'reset', '--quiet', '--soft', 'HEAD~1')
  expect(await fetchMissing()).toEqual(['a\n', 'a\n', 'aa\n', 'aa\n'])
})

const PLACES: Readonly<Record<string, (repo: string) => string>> = {
  'a path in .git': repo => path.join(repo, '.git/evil'),
  'a file address': repo => `file://${repo}/.git/evil`,
  'a file address with a host': repo => `file://localhost${repo}/.git/evil`,
  'an encoded file address': repo => `file://%2F${repo.slice(1)}/.git/ev%69l`,
  'a half encoded file address': repo => `file://${repo}%2F.git/evil/%zz/..`,
  'a relative path': () => '.git/evil',
  'a path through a link': repo => path.join(path.dirname(repo), 'link'),
}

forCases(
  Object.keys(PLACES),
  3,
  'a promisor repository inside the working tree runs no program at its end, by %s, even if the configuration was so from the start',
  async place => {
    const bench = openGitFixture()
    const { program, expectUnsprung } = trap(bench.root, 'exit 1')
    const repo = committed(bench)
    trappedRepository(bench, path.join(repo, '.git/evil'), program)
    fs.mkdirSync(path.join(repo, '.git/evil/%zz'))
    fs.symlinkSync(path.join(repo, '.git/evil'), path.join(bench.root, 'link'))
    promise(bench, repo, (PLACES[place] as (repo: string) => string)(repo))
    const { fetchMissing } = await beginWork(bench, repo)
    expect(await fetchMissing()).toEqual(ALL_FAILED)
    expectUnsprung()
  },
)

test('a promisor repository elsewhere runs no program at its end for objects that it lacks, too', async () => {
  const bench = openGitFixture()
  const { program, expectUnsprung } = trap(bench.root, 'exit 1')
  const repo = committed(bench)
  trappedRepository(bench, path.join(bench.root, 'elsewhere'), program)
  promise(bench, repo, path.join(bench.root, 'elsewhere'))
  const { fetchMissing } = await beginWork(bench, repo)
  expect(await fetchMissing()).toEqual(ALL_FAILED)
  expectUnsprung()
})

/** Changes of a partial clone's configuration after which git would fetch from another address. */
const DETOURS: Readonly<Record<string, (repo: string, url: string) => string>> = {
  'another address': (_, url) => `[remote "origin"]\n\turl = ${url}\n`,
  'another promisor remote': (_, url) => `[remote "more"]\n\turl = ${url}\n\tpromisor = true\n`,
  'a remote that has a filter': (_, url) => `[remote "more"]\n\turl = ${url}\n\tpartialCloneFilter = blob:none\n`,
  'another default': (_, url) => `[remote "more"]\n\turl = ${url}\n[extensions]\n\tpartialClone = more\n`,
  'a remote whose name is an address': (_, url) => `[remote "${url}"]\n\tpromisor = true\n`,
  'a remote in a file of its own': (repo, url) => {
    put(repo, '.git/remotes/more', `URL: ${url}\n`)
    return '[remote "more"]\n\tpromisor = true\n'
  },
  'a rewritten address': (repo, url) => `[url "${url}"]\n\tinsteadOf = file://${path.dirname(repo)}/source\n`,
  'an included file': (repo, url) => {
    put(repo, '.git/more', `[remote "origin"]\n\turl = ${url}\n`)
    return '[include]\n\tpath = more\n'
  },
  'a helper': (_, url) => `[remote "origin"]\n\tvcs = http\n\turl = ${url}\n`,
}

forCases(
  Object.keys(DETOURS),
  3,
  'a loop and a restore send nothing to the address that an agent wrote into the configuration of a partial clone: %s',
  async detour => {
    const bench = openGitFixture()
    const { repo } = partialClone(bench)
    const asked: string[] = []
    const server = http.createServer((request, response) => {
      asked.push(request.url ?? '')
      response.writeHead(404).end()
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as { port: number }
    const { fetchMissing } = await beginWork(bench, repo)
    bench.git(repo, 'reset', '--quiet', '--soft', 'HEAD~1')
    const config = path.join(repo, '.git/config')
    const change = (DETOURS[detour] as (repo: string, url: string) => string)(repo, `http://127.0.0.1:${port}/SECRET`)
    // git uses the first address of a remote.
    fs.writeFileSync(config, `${change}${fs.readFileSync(config, 'utf8')}`)
    expect((await fetchMissing()).slice(0, 2)).toEqual(['failed', 'failed'])
    expect(asked).toEqual([])
  },
)

test('a loop says why it does not fetch what a partial clone lacks', async () => {
  const bench = openGitFixture()
  const { repo } = partialClone(bench)
  const worktrees = gitWorktrees({ env: bench.env, recordFolder: path.join(bench.state, 'loop') })
  await worktrees.inspect(repo)
  bench.git(repo, 'config', 'remote.origin.url', `file://${path.join(bench.root, 'other')}`)
  const opening = worktrees.open(repo, { branch: 'demo/one', path: path.join(bench.root, 'one') }, 'HEAD~1')
  await expect(opening).rejects.toThrow('names another promisor remote')
})

test('a push sends the user’s own push options, and none that the repository’s configuration names', async () => {
  const bench = openGitFixture()
  const remote = bench.repository('remote.git', '--bare')
  const told = path.join(bench.root, 'told')
  bench.git(remote, 'config', 'receive.advertisePushOptions', 'true')
  put(remote, 'hooks/pre-receive', `#!/bin/sh\nenv | grep ^GIT_PUSH_OPTION_ >> ${told}\ncat > /dev/null\n`, 0o755)
  const repo = committed(bench)
  bench.git(repo, 'remote', 'add', 'origin', remote)
  bench.git(repo, 'config', '--global', 'push.pushOption', 'ci.skip')
  put(repo, '.git/more', '[push]\n\tpushOption = SECRET-2\n')
  for (const [key, value] of [
    ['push.pushOption', 'SECRET-1'],
    ['include.path', 'more'],
  ] as const)
    bench.git(repo, 'config', key, value)
  const target = bench.checkpointTarget(repo)
  await savedCheckpoint(bench.checkpoints().save(target, makeCheckpointRequest(), NEVER))
  await bench.checkpoints().push(target, 'origin', {}, NEVER)
  expect(fs.readFileSync(told, 'utf8')).toBe('GIT_PUSH_OPTION_COUNT=1\nGIT_PUSH_OPTION_0=ci.skip\n')
})

test.each(['include', 'includeIf "gitdir:/"', 'diff', 'fetch "fsck"'])(
  'a checkpoint does not wait for a pipe that [%s] in the configuration names, and trusts nothing from it',
  async section => {
    const bench = openGitFixture()
    const repo = bench.repository('repo')
    put(repo, 'a.txt', 'a\n')
    const pipe = path.join(repo, 'pipe')
    execFileSync('mkfifo', [pipe])
    const key = section.startsWith('include') ? 'path' : section === 'diff' ? 'orderFile' : 'skipList'
    fs.appendFileSync(path.join(repo, '.git/config'), `[${section}]\n\t${key} = ${pipe}\n`)
    if (section === 'diff') {
      await savedCheckpoint(bench.checkpoints().save(bench.checkpointTarget(repo), makeCheckpointRequest(), NEVER))
      return
    }
    // The feeder writes a harmless section to the first reader of the pipe.
    const feeder = spawn('sh', ['-c', `trap '' PIPE; while :; do echo '[a]' > ${pipe}; done`], {
      stdio: 'ignore',
      detached: true,
    })
    onTestFinished(() => void process.kill(-(feeder.pid as number), 'SIGKILL'))
    const saving = bench.checkpoints().save(bench.checkpointTarget(repo), makeCheckpointRequest(), NEVER)
    await expect(saving).rejects.toThrow('is not a file')
  },
)

test('a checkpoint refuses a configuration that git cannot read, in git’s own words', async () => {
  const bench = openGitFixture()
  const repo = bench.repository('repo')
  fs.appendFileSync(path.join(repo, '.git/config'), '[include]\n\tpath = more\n[filter\n')
  await expect(bench.checkpoints().save(bench.checkpointTarget(repo), makeCheckpointRequest(), NEVER)).rejects.toThrow(
    'bad config',
  )
})

/** Stands for git-lfs: passes contents on, and notes down the settings by which it would reach others or run programs. */
const LFS_STAND_IN = `#!/bin/sh
{ git config --list | grep ^lfs; echo; } >> "$HOME/seen"
exec cat
`

function lfsBench(): GitFixture & { repo: string; lfs: (key: string) => string[] } {
  const fixture = openGitFixture()
  const repo = fixture.repository('repo')
  const home = fixture.env['HOME'] as string
  const program = path.join(fixture.root, 'git-lfs')
  fs.writeFileSync(program, LFS_STAND_IN, { mode: 0o755 })
  for (const how of ['clean', 'smudge'])
    fixture.git(repo, 'config', '--global', `filter.lfs.${how}`, `${program} ${how}`)
  put(repo, '.gitattributes', '*.bin filter=lfs\n')
  put(repo, 'a.bin', 'a\n')
  /** The values that its runs have found in the end. */
  const lfs = (key: string): string[] => {
    const runs = fs.readFileSync(path.join(home, 'seen'), 'utf8').split('\n\n')
    const last = runs.map(run => run.split('\n').findLast(line => line.startsWith(`${key}=`)))
    return [...new Set(last.flatMap(line => (line === undefined ? [] : line.slice(key.length + 1))))]
  }
  return { ...fixture, repo, lfs }
}

test('oneshot runs git-lfs of the user’s configuration and hides from it every server, program and folder that the repository names', async () => {
  const { repo, lfs, ...bench } = lfsBench()
  const { program, expectUnsprung } = trap(bench.root)
  const own: Readonly<Record<string, string>> = {
    'lfs.url': 'https://127.0.0.1:9/lfs',
    'lfs.standalonetransferagent': 'evil',
    'lfs.https://127.0.0.1:9/lfs.standalonetransferagent': 'evil',
    'lfs.customtransfer.evil.path': program,
    'lfs.customtransfer.oneshot-none.path': program,
    'lfs.customtransfer.oneshot-none.args': `; ${program}`,
    'lfs.extension.evil.clean': program,
    'lfs.extension.evil.smudge': program,
    'lfs.storage': path.join(bench.root, 'outside'),
  }
  const target = bench.checkpointTarget(repo)
  const checkpoints = bench.checkpoints()
  const first = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  for (const [key, value] of Object.entries(own)) bench.git(repo, 'config', key, value)
  put(repo, 'a.bin', 'b\n')
  const second = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  await checkpoints.restoreInPlace(target, first, second)
  expect(fs.readFileSync(path.join(repo, 'a.bin'), 'utf8')).toBe('a\n')
  const found = Object.fromEntries(Object.keys(own).map(key => [key, lfs(key)]))
  expect(found).toMatchObject({
    'lfs.standalonetransferagent': ['oneshot-none'],
    'lfs.https://127.0.0.1:9/lfs.standalonetransferagent': ['oneshot-none'],
    'lfs.customtransfer.evil.path': ['false'],
    'lfs.customtransfer.oneshot-none.path': ['false'],
    'lfs.customtransfer.oneshot-none.args': [''],
    'lfs.extension.evil.clean': ['cat'],
    'lfs.extension.evil.smudge': ['cat'],
    'lfs.storage': ['lfs'],
  })
  expectUnsprung()
})

const realLfs = which('git-lfs', process.env, '/')

test.skipIf(realLfs === undefined)(
  'a restore with the real git-lfs brings local contents back and asks no server for missing ones',
  async () => {
    const bench = openGitFixture()
    const repo = bench.repository('repo')
    bench.git(repo, 'lfs', 'install', '--skip-repo')
    const asked: string[] = []
    const server = http.createServer((request, response) => {
      asked.push(request.url ?? '')
      response.writeHead(404).end()
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as { port: number }
    put(repo, '.gitattributes', '*.bin filter=lfs\n')
    put(repo, '.lfsconfig', `[lfs]\n\turl = http://127.0.0.1:${port}/lfs\n`)
    put(repo, 'a.bin', 'a\n')
    put(repo, 'b.bin', 'b\n')
    const target = bench.checkpointTarget(repo)
    const checkpoints = bench.checkpoints()
    const first = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
    const pointer = bench.git(repo, 'cat-file', 'blob', `${first.commit}:b.bin`)
    const [, oid = ''] = /sha256:(\w+)/.exec(pointer) ?? []
    for (const name of ['a.bin', 'b.bin']) put(repo, name, 'changed\n')
    const second = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
    fs.rmSync(path.join(repo, '.git/lfs/objects', oid.slice(0, 2), oid.slice(2, 4), oid))
    await checkpoints.restoreInPlace(target, first, second)
    expect(fs.readFileSync(path.join(repo, 'a.bin'), 'utf8')).toBe('a\n')
    expect(fs.readFileSync(path.join(repo, 'b.bin'), 'utf8')).toBe(pointer)
    expect(asked).toEqual([])
  },
)
