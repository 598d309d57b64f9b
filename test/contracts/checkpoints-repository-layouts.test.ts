import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { type GitFixture, NEVER, makeCheckpointRequest, openGitFixture, put, savedCheckpoint } from './git-fixture.ts'
import { roundTrip } from './round-trip.ts'

/** Makes a working tree, and answers its top. */
type Builder = (fixture: GitFixture) => string

const commit = (fixture: GitFixture, repo: string): void => {
  fixture.git(repo, 'add', '--all')
  fixture.git(repo, 'commit', '--quiet', '--message', 'more')
}

/** With a commit of three files, of which one was changed since. */
const usual = (fixture: GitFixture, ...options: readonly string[]): string => {
  const repo = fixture.repository('repo', ...options)
  put(repo, 'a.txt', 'a\n')
  put(repo, 'b/c.txt', 'c\n')
  put(repo, 'b/d/e.txt', 'e\n')
  commit(fixture, repo)
  put(repo, 'a.txt', 'changed\n')
  return repo
}

const PLACES: Readonly<Record<string, Builder>> = {
  'a plain repository': usual,
  'a repository without a commit': fixture => {
    const repo = fixture.repository('repo')
    put(repo, 'a/b.txt', 'b')
    return repo
  },
  'an index without a commit': fixture => {
    const repo = fixture.repository('repo')
    put(repo, 'a/b.txt', 'b')
    fixture.git(repo, 'add', '.')
    put(repo, 'a/b.txt', 'c')
    return repo
  },
  'a repository without a file': fixture => fixture.repository('repo'),
  'a detached HEAD': fixture => {
    const repo = usual(fixture)
    fixture.git(repo, 'checkout', '--quiet', '--detach')
    return repo
  },
  'hashes of 64 digits': fixture => usual(fixture, '--object-format=sha256'),
  'names of all sorts': fixture => {
    const repo = usual(fixture)
    const names = [
      '-x',
      '--help',
      'a b',
      'new\nline',
      '"quoted"',
      "it's",
      'back\\slash',
      '*',
      ':(glob)**',
      'grün',
      '💾',
      '?',
    ]
    for (const name of [...names, '\t', 'x/\u2028/y', '.hidden', '#', '$HOME', 'a\x7f', 'con', '~'])
      put(repo, name, name)
    for (const bytes of [[0xff], [0xc3, 0x28], [0x80, 0x0a, 0x22]]) {
      fs.writeFileSync(Buffer.concat([Buffer.from(`${repo}/`), Buffer.from(bytes)]), 'no text')
    }
    return repo
  },
  'programs and links': fixture => {
    const repo = usual(fixture)
    put(repo, 'run.sh', '#!/bin/sh\n', 0o755)
    commit(fixture, repo)
    fs.chmodSync(path.join(repo, 'run.sh'), 0o644)
    put(repo, 'b/c.txt', 'c\n', 0o755)
    for (const [name, target] of [
      ['dangling', 'nowhere'],
      ['folder', 'b'],
      ['outside', '/etc'],
      ['loop', 'loop'],
    ]) {
      fs.symlinkSync(target as string, path.join(repo, name as string))
    }
    return repo
  },
  'files where folders were, and the other way round': fixture => {
    const repo = usual(fixture)
    put(repo, 'f/g/h.txt', 'h')
    put(repo, 'i', 'i')
    put(repo, 'j/k', 'k')
    fs.symlinkSync('b', path.join(repo, 'l'))
    commit(fixture, repo)
    for (const name of ['f', 'i', 'j', 'l']) fs.rmSync(path.join(repo, name), { recursive: true })
    put(repo, 'f', 'a file now')
    put(repo, 'i/m/n', 'n')
    fs.symlinkSync('b', path.join(repo, 'j'))
    put(repo, 'l/o', 'o')
    return repo
  },
  'renamed and removed files': fixture => {
    const repo = usual(fixture)
    fs.renameSync(path.join(repo, 'b'), path.join(repo, 'z'))
    fixture.git(repo, 'rm', '--quiet', '--cached', 'a.txt')
    return repo
  },
  'a merge with conflicts': fixture => {
    const repo = usual(fixture)
    put(repo, 'gone.txt', 'to be removed there')
    commit(fixture, repo)
    fixture.git(repo, 'checkout', '--quiet', '-b', 'other', 'HEAD~1')
    put(repo, 'a.txt', 'theirs\n')
    commit(fixture, repo)
    fixture.git(repo, 'checkout', '--quiet', 'main')
    put(repo, 'a.txt', 'ours\n')
    fs.rmSync(path.join(repo, 'b/c.txt'))
    commit(fixture, repo)
    expect(() => fixture.git(repo, 'merge', 'other')).toThrow()
    return repo
  },
  'files that are only intended to be added': fixture => {
    const repo = usual(fixture)
    put(repo, 'soon.txt', 'soon')
    put(repo, 'gone.txt', 'gone')
    fixture.git(repo, 'add', '--intent-to-add', 'soon.txt', 'gone.txt')
    fs.rmSync(path.join(repo, 'gone.txt'))
    return repo
  },
  'files that git was told not to look at': fixture => {
    const repo = usual(fixture)
    fixture.git(repo, 'update-index', '--assume-unchanged', 'a.txt')
    fixture.git(repo, 'update-index', '--skip-worktree', 'b/c.txt')
    put(repo, 'a.txt', 'hidden change')
    put(repo, 'b/c.txt', 'another one')
    return repo
  },
  'an index in two files': fixture => {
    const repo = usual(fixture)
    fixture.git(repo, 'config', 'core.splitIndex', 'true')
    fixture.git(repo, 'update-index', '--split-index')
    put(repo, 'new.txt', 'new')
    fixture.git(repo, 'add', 'new.txt')
    return repo
  },
  'an untracked cache': fixture => {
    const repo = usual(fixture)
    fixture.git(repo, 'config', 'core.untrackedCache', 'true')
    fixture.git(repo, 'status')
    put(repo, 'b/new.txt', 'new')
    return repo
  },
  'an index that cannot be read': fixture => {
    const repo = usual(fixture)
    put(repo, '.git/index', 'rubbish')
    return repo
  },
  'an index that somebody holds': fixture => {
    const repo = usual(fixture)
    put(repo, '.git/index.lock', '')
    return repo
  },
  'a clone that has left most objects elsewhere': fixture => {
    const source = usual(fixture)
    put(source, 'big/one.txt', 'one')
    commit(fixture, source)
    put(source, 'big/one.txt', 'two')
    commit(fixture, source)
    fixture.git(source, 'config', 'uploadpack.allowFilter', 'true')
    const clone = path.join(fixture.root, 'clone')
    fixture.git(fixture.root, 'clone', '--quiet', '--filter=blob:none', `file://${source}`, clone)
    put(clone, 'a.txt', 'changed there')
    return clone
  },
  'configuration that would get in the way': fixture => {
    const repo = usual(fixture)
    for (const [key, value] of Object.entries(AWKWARD)) fixture.git(repo, 'config', key, value)
    return repo
  },
}

const AWKWARD = {
  'core.safecrlf': 'true',
  'core.quotePath': 'true',
  'core.fsmonitor': '/nowhere/fsmonitor',
  'core.logAllRefUpdates': 'always',
  'core.ignoreStat': 'true',
  'commit.gpgSign': 'true',
  'gpg.program': '/nowhere/gpg',
  'log.showSignature': 'true',
  'i18n.commitEncoding': 'ISO-8859-1',
  'i18n.logOutputEncoding': 'ISO-8859-1',
  'status.showUntrackedFiles': 'no',
  'status.relativePaths': 'true',
  'status.renames': 'copies',
  'status.showStash': 'true',
  'diff.external': '/nowhere/diff',
  'diff.noprefix': 'true',
  'diff.renames': 'copies',
  'color.ui': 'always',
  'core.pager': '/nowhere/pager',
  'format.pretty': 'oneline',
}

test.each(Object.entries(PLACES))('restore brings a checkpoint back in place and beside it: %s', async (_, build) => {
  const fixture = openGitFixture()
  await roundTrip(fixture, build(fixture))
})

test('a checkpoint from a subfolder contains the whole working tree', async () => {
  const fixture = openGitFixture()
  const repo = usual(fixture)
  await roundTrip(fixture, repo, path.join(repo, 'b', 'd'))
})

test('a linked worktree has its own checkpoints in the shared repository', async () => {
  const fixture = openGitFixture()
  const repo = usual(fixture)
  const linked = path.join(fixture.root, 'linked')
  fixture.git(repo, 'worktree', 'add', '--quiet', linked)
  put(linked, 'only-there.txt', 'x')
  const checkpoints = fixture.checkpoints()
  const [here, there] = [fixture.checkpointTarget(repo), fixture.checkpointTarget(linked)]
  const one = await savedCheckpoint(checkpoints.save(here, makeCheckpointRequest(), NEVER))
  const other = await savedCheckpoint(checkpoints.save(there, makeCheckpointRequest(), NEVER))
  expect(fixture.git(repo, 'ls-tree', '--name-only', one.commit)).toBe('a.txt\nb\n')
  expect(fixture.git(repo, 'ls-tree', '--name-only', other.commit)).toBe('a.txt\nb\nonly-there.txt\n')
  expect((await checkpoints.findSessions(repo)).map(({ sessionId }) => sessionId).sort()).toEqual(
    [here.sessionId, there.sessionId].sort(),
  )
})

test('a checkpoint of a sparse checkout does not take files outside for removed, even when the selection changes', async () => {
  const fixture = openGitFixture()
  const repo = usual(fixture)
  put(repo, 'f/g.txt', 'g')
  commit(fixture, repo)
  const all = fixture.git(repo, 'ls-files')
  fixture.git(repo, 'sparse-checkout', 'set', '--cone', '--sparse-index', 'b')
  const checkpoints = fixture.checkpoints()
  const target = fixture.checkpointTarget(repo)
  put(repo, 'b/c.txt', 'changed')
  const one = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  expect(fixture.git(repo, 'ls-tree', '-r', '--name-only', one.commit)).toBe(all)
  fixture.git(repo, 'sparse-checkout', 'set', '--cone', 'f')
  put(repo, 'f/g.txt', 'changed, too')
  const other = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  expect(fixture.git(repo, 'ls-tree', '-r', '--name-only', other.commit)).toBe(all)
  expect(fixture.git(repo, 'show', `${other.commit}:f/g.txt`)).toBe('changed, too')
  fixture.git(repo, 'sparse-checkout', 'disable')
  fs.rmSync(path.join(repo, 'f/g.txt'))
  const last = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  expect(fixture.git(repo, 'ls-tree', '-r', '--name-only', last.commit)).toBe(all.replace('f/g.txt\n', ''))
})
