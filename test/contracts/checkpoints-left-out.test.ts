import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import type { Checkpoint } from '../../src/core/checkpoint/checkpoint.ts'
import { bundleProgram } from '../../testkit/system/child-program.ts'
import { Git } from '../../src/world/git/git.ts'
import { findGit } from '../../src/world/git/git-settings.ts'
import { updateIndex } from '../../src/world/git/checkpoint/save/update-index.ts'
import { type GitFixture, NEVER, makeCheckpointRequest, openGitFixture, put, savedCheckpoint } from './git-fixture.ts'
import type { Made } from './save-once.ts'

const filesOf = (fixture: GitFixture, repo: string, { commit }: Checkpoint): string[] =>
  fixture.git(repo, 'ls-tree', '-r', '--name-only', commit).trim().split('\n')

function begin(fixture: GitFixture): string {
  const repo = fixture.repository('repo')
  put(repo, 'a.txt', 'a\n')
  fixture.git(repo, 'add', '.')
  fixture.git(repo, 'commit', '--quiet', '--message', 'first')
  return repo
}

test('a checkpoint leaves out a file that has become too large with a note, and keeps its last saved version', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const checkpoints = fixture.checkpoints({ maxFileSize: 2048 })
  const target = fixture.checkpointTarget(repo)
  put(repo, 'grows.txt', 'small')
  put(repo, 'huge.bin', Buffer.alloc(5000))
  const first = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  expect(first.leftOut).toEqual(['huge.bin has 4.9 KB, more than 2 KB'])
  expect(filesOf(fixture, repo, first)).toEqual(['a.txt', 'grows.txt'])
  put(repo, 'grows.txt', 'x'.repeat(3000))
  put(repo, 'a.txt', 'b\n')
  const second = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  expect(second.leftOut).toHaveLength(2)
  expect(fixture.git(repo, 'show', `${second.commit}:grows.txt`)).toBe('small')
  expect(
    await checkpoints.save(target, makeCheckpointRequest(), NEVER),
    'nothing that could be saved has changed',
  ).toMatchObject({
    isNew: false,
  })
  put(repo, 'a.txt', 'c\n')
  const third = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  expect(await checkpoints.restoreInPlace(target, first, third)).toEqual([
    'grows.txt has 2.9 KB, more than 2 KB, and stays as it is',
    'huge.bin has 4.9 KB, more than 2 KB, and stays as it is',
  ])
  expect(fs.readFileSync(path.join(repo, 'a.txt'), 'utf8')).toBe('a\n')
  expect(fs.statSync(path.join(repo, 'grows.txt')).size, 'what was left out is not touched').toBe(3000)
})

test('a save that writes nothing names a new file that is too large', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const checkpoints = fixture.checkpoints({ maxFileSize: 2048 })
  const target = fixture.checkpointTarget(repo)
  await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  put(repo, 'huge.bin', Buffer.alloc(5000))
  expect(await checkpoints.save(target, makeCheckpointRequest(), NEVER)).toMatchObject({
    isNew: false,
    checkpoint: { number: 1, leftOut: ['huge.bin has 4.9 KB, more than 2 KB'] },
  })
  fs.rmSync(path.join(repo, 'huge.bin'))
  expect(await checkpoints.save(target, makeCheckpointRequest(), NEVER)).toMatchObject({ checkpoint: { leftOut: [] } })
})

test('a save names the files that git cannot read because of an encoding for all files', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const target = fixture.checkpointTarget(repo)
  await savedCheckpoint(fixture.checkpoints().save(target, makeCheckpointRequest(), NEVER))
  put(repo, '.gitattributes', '* working-tree-encoding=UTF-16\n')
  put(repo, 'important.txt', 'keep\n')
  const { checkpoint, isNew } = await fixture.checkpoints().save(target, makeCheckpointRequest(), NEVER)
  expect({ isNew, leftOut: checkpoint.leftOut.join('\n') }).toMatchObject({
    isNew: false,
    leftOut: expect.stringMatching(/^important\.txt cannot be read by git: /m),
  })
})

test('a checkpoint saves the other files if git rejects more than forty', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const target = fixture.checkpointTarget(repo)
  await savedCheckpoint(fixture.checkpoints().save(target, makeCheckpointRequest(), NEVER))
  put(repo, '.gitattributes', '*.ps1 text working-tree-encoding=UTF-16\n')
  for (let n = 100; n < 160; n++) put(repo, `bad-${n}.ps1`, 'x\n')
  for (let n = 100; n < 120; n++) put(repo, `bad-${n}-good.ps1`, Buffer.from('\ufeffgood\n', 'utf16le'))
  put(repo, 'zzz.txt', 'kept\n')
  put(repo, 'a.txt', 'changed\n')
  const second = await savedCheckpoint(fixture.checkpoints().save(target, makeCheckpointRequest(), NEVER))
  const files = filesOf(fixture, repo, second)
  expect(files).toEqual(expect.arrayContaining(['.gitattributes', 'a.txt', 'zzz.txt']))
  expect(files.filter(file => file.endsWith('-good.ps1'))).toHaveLength(20)
  expect(files).toHaveLength(23)
  expect(fixture.git(repo, 'show', `${second.commit}:a.txt`)).toBe('changed\n')
  expect(second.leftOut[0]).toContain('bad-100.ps1 cannot be read by git')
  fixture.expectIntact(repo)
})

test('a checkpoint with a new private index still takes the last saved version of a file that it leaves out', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  const checkpoints = fixture.checkpoints({ maxFileSize: 2048 })
  const target = fixture.checkpointTarget(repo)
  put(repo, 'grows.txt', 'small')
  await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  put(repo, 'grows.txt', 'x'.repeat(3000))
  expect(await checkpoints.save(target, makeCheckpointRequest(), NEVER)).toMatchObject({ isNew: false })
  fs.rmSync(path.join(fixture.state, target.sessionId, 'index.json'))
  expect(await checkpoints.save(target, makeCheckpointRequest(), NEVER)).toMatchObject({ isNew: false })
})

/** Changes that come with a pull and that a checkpoint cannot read from disk afterwards. */
const PULLED: Readonly<Record<string, (fixture: GitFixture, upstream: string) => void>> = {
  'a file that is too large': (_, upstream) => put(upstream, 'large.bin', 'x'.repeat(5000)),
  'files outside of a sparse checkout': (_, upstream) => {
    put(upstream, 'out/old.txt', 'changed upstream')
    put(upstream, 'out/new.txt', 'new upstream')
  },
  'a submodule that nobody has initialised': (fixture, upstream) => {
    const inner = fixture.repository('inner')
    fixture.git(inner, 'commit', '--quiet', '--allow-empty', '--message', 'inner')
    fixture.git(upstream, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'in/inner')
  },
}

test.each(
  Object.entries(PULLED).flatMap(([what, come]) => [false, true].map(isVisible => ({ what, come, isVisible }))),
)('a checkpoint after a pull keeps $what as pulled (visible: $isVisible)', async ({ what, come, isVisible }) => {
  const fixture = openGitFixture()
  const upstream = begin(fixture)
  for (const name of ['in/a.txt', 'out/old.txt']) put(upstream, name, name)
  fixture.git(upstream, 'add', '.')
  fixture.git(upstream, 'commit', '--quiet', '--message', 'more')
  const repo = path.join(fixture.root, 'clone')
  fixture.git(fixture.root, 'clone', '--quiet', upstream, repo)
  if (what.includes('sparse')) fixture.git(repo, 'sparse-checkout', 'set', '--cone', 'in')
  const checkpoints = fixture.checkpoints({ maxFileSize: 2048 })
  const target = fixture.checkpointTarget(repo)
  await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest({ isVisible }), NEVER))
  come(fixture, upstream)
  fixture.git(upstream, 'add', '.')
  fixture.git(upstream, 'commit', '--quiet', '--message', 'upstream')
  fixture.git(repo, 'pull', '--quiet')
  put(repo, 'in/a.txt', 'work')
  const made = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest({ isVisible }), NEVER))
  expect(fixture.git(repo, 'diff', '--name-only', 'origin/main', made.commit)).toBe('in/a.txt\n')
  expect(new Set(made.leftOut).size).toBe(made.leftOut.length)
})

test('a checkpoint shortens many notes', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  for (let n = 0; n < 9; n++) put(repo, `big${n}`, 'x'.repeat(100))
  const { leftOut } = await savedCheckpoint(
    fixture.checkpoints({ maxFileSize: 50 }).save(fixture.checkpointTarget(repo), makeCheckpointRequest(), NEVER),
  )
  expect(leftOut).toEqual([...[0, 1, 2, 3].map(n => `big${n} has 100 B, more than 50 B`), 'and 5 more'])
})

test('a checkpoint leaves out only the files whose filter fails', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  fixture.git(repo, 'config', '--global', 'filter.strict.clean', 'false')
  fixture.git(repo, 'config', '--global', 'filter.strict.required', 'true')
  put(repo, '.gitattributes', '*.dat filter=strict\n')
  for (let n = 0; n < 60; n++) put(repo, `data/${n}.dat`, `${n}`)
  put(repo, '-z\n.txt', 'z')
  put(repo, 'zz.txt', 'zz')
  const made = await savedCheckpoint(
    fixture.checkpoints().save(fixture.checkpointTarget(repo), makeCheckpointRequest(), NEVER),
  )
  expect(made.leftOut).toEqual([expect.stringMatching(/^data\/0\.dat and 59 more cannot be read by git: .*filter/)])
  expect(filesOf(fixture, repo, made)).toEqual(['"-z\\n.txt"', '.gitattributes', 'a.txt', 'zz.txt'])
})

test('updateIndex reports isSynced only if git refused no file', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  fixture.git(repo, 'config', '--global', 'filter.strict.clean', 'false')
  fixture.git(repo, 'config', '--global', 'filter.strict.required', 'true')
  put(repo, '.gitattributes', '*.dat filter=strict\n')
  const names = Array.from({ length: 540 }, (_, n) => (n < 60 ? `${n}.dat` : `${n}.txt`))
  for (const name of names) put(repo, name, name)
  const git = new Git(await findGit(fixture.env), repo, NEVER)
  const index = path.join(fixture.root, 'index')
  const taken = await updateIndex(git, index, { add: names, remove: [] })
  expect(taken).toMatchObject({ rejected: [expect.stringContaining('59 more')], isSynced: false })
  expect(await updateIndex(git, index, { add: [...names.slice(60), ...names.slice(60)], remove: [] })).toEqual({
    rejected: [],
    skippedPaths: [],
    isSynced: true,
  })
})

test('a checkpoint leaves out files and folders that oneshot may not read', async ({ skip }) => {
  if (process.getuid?.() !== 0) skip('only root can become somebody else')
  const fixture = openGitFixture()
  const repo = begin(fixture)
  for (const name of ['closed.txt', 'closed/b.txt', 'open/c.txt']) put(repo, name, name)
  const inner = fixture.repository('repo/inner')
  fixture.git(inner, 'commit', '--quiet', '--allow-empty', '--message', 'inner')
  fixture.git(repo, 'add', 'inner')
  spawnSync('chown', ['-R', '12345:12345', fixture.root])
  for (const name of ['closed.txt', 'closed', 'inner']) fs.chmodSync(path.join(repo, name), 0)
  const program = await bundleProgram(path.join(path.dirname(fileURLToPath(import.meta.url)), 'save-once.ts'))
  const args = [program, repo, fixture.state]
  const somebody = { uid: 12_345, gid: 12_345, cwd: '/', env: fixture.env, encoding: 'utf8' } as const
  const { stdout, stderr } = spawnSync(process.execPath, args, somebody)
  fs.rmSync(program)
  expect(stderr).toBe('')
  const { checkpoint: made } = JSON.parse(stdout) as Made
  expect(made.leftOut).toEqual([
    'closed.txt may not be read',
    "could not open directory 'closed/': Permission denied",
    expect.stringMatching(/^inner is a repository that cannot be saved: EACCES/),
  ])
  const tree = spawnSync('git', ['ls-tree', '-r', '--name-only', made.commit], { ...somebody, cwd: repo }).stdout
  expect(tree).toBe('a.txt\ninner\nopen/c.txt\n')
})

test('a checkpoint leaves out entries that are neither files nor links', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  fs.rmSync(path.join(repo, 'a.txt'))
  await Promise.all([listenAt(path.join(repo, 'a.txt')), listenAt(path.join(repo, 'socket'))])
  put(repo, 'b.txt', 'b')
  const made = await savedCheckpoint(
    fixture.checkpoints().save(fixture.checkpointTarget(repo), makeCheckpointRequest(), NEVER),
  )
  expect(filesOf(fixture, repo, made)).toContain('b.txt')
  expect(made.leftOut.filter(sentence => !sentence.startsWith('a.txt'))).toEqual([])
})

/** Makes a socket, which is no file. */
function listenAt(file: string): Promise<void> {
  const server = net.createServer()
  onTestFinished(() => void server.close())
  return new Promise(resolve => server.listen(file, resolve))
}

test('a checkpoint contains the other files if it cannot save an unmerged one', async () => {
  const fixture = openGitFixture()
  const repo = begin(fixture)
  fixture.git(repo, 'checkout', '--quiet', '-b', 'other')
  put(repo, 'a.txt', 'theirs')
  fixture.git(repo, 'commit', '--quiet', '--all', '--message', 'theirs')
  fixture.git(repo, 'checkout', '--quiet', 'main')
  put(repo, 'a.txt', 'ours')
  fixture.git(repo, 'commit', '--quiet', '--all', '--message', 'ours')
  expect(() => fixture.git(repo, 'merge', 'other')).toThrow()
  put(repo, 'a.txt', 'x'.repeat(100))
  put(repo, 'b.txt', 'b')
  const made = await savedCheckpoint(
    fixture.checkpoints({ maxFileSize: 50 }).save(fixture.checkpointTarget(repo), makeCheckpointRequest(), NEVER),
  )
  expect(made.leftOut).toEqual(['a.txt has 100 B, more than 50 B'])
  expect(filesOf(fixture, repo, made)).toEqual(['b.txt'])
})
