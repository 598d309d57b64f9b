import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { SessionFilter, CheckpointTarget } from '../../src/ports/checkpoints.ts'
import { testSessionId, uncheckedSessionId } from '../../testkit/core/ids.ts'
import {
  type GitFixture,
  NEVER,
  makeCheckpointRequest,
  openGitFixture,
  put,
  savedCheckpoint,
} from '../contracts/git-fixture.ts'
import { TestHome } from '../system/test-home.ts'
import { forgeCheckpoint, writeObject, checkpointMessage, writeTree } from './forge-checkpoint.ts'
import { attackSize } from './attack-size.ts'

const ALL: SessionFilter = all => all
const env = (fixture: GitFixture): Record<string, string> => fixture.env as Record<string, string>

/** A remote that anybody can write to, and the clone of somebody who trusts nobody. */
function begin(): { bench: GitFixture; remote: string; clone: string } {
  const fixture = openGitFixture()
  const remote = fixture.repository('remote.git', '--bare')
  const clone = fixture.repository('clone')
  put(clone, 'a.txt', 'a\n')
  fixture.git(clone, 'add', '.')
  fixture.git(clone, 'commit', '--quiet', '--message', 'first')
  fixture.git(clone, 'push', '--quiet', remote, 'main')
  return { bench: fixture, remote, clone }
}

const fetchAll = ({ bench: fixture, remote, clone }: ReturnType<typeof begin>) =>
  fixture.checkpoints().fetch(clone, { remote, env: env(fixture) }, ALL, NEVER)

test('a fetch ignores each bad ref of a remote and still takes the good one', async () => {
  const scene = begin()
  const { bench: fixture, remote, clone } = scene
  const ref = (name: string): string => `refs/oneshot/demo-work/${name}`
  forgeCheckpoint(fixture, remote, { ref: ref('good'), message: checkpointMessage({ Session: 'good' }) })
  forgeCheckpoint(fixture, remote, {
    ref: ref('date'),
    message: checkpointMessage({ Session: 'date', At: 'tomorrow' }),
  })
  forgeCheckpoint(fixture, remote, {
    ref: ref('other'),
    message: checkpointMessage({ Session: 'good', Checkpoint: '9' }),
  })
  forgeCheckpoint(fixture, remote, { ref: ref('escape'), message: checkpointMessage({ Session: '../../../..' }) })
  forgeCheckpoint(fixture, remote, {
    ref: ref('good+junk'),
    message: checkpointMessage({ Session: 'good', Path: 'sub' }),
  })
  forgeCheckpoint(fixture, remote, { ref: 'refs/oneshot/demo-file', message: checkpointMessage({ Session: 'file' }) })
  forgeCheckpoint(fixture, remote, { ref: 'refs/oneshot/a/b/c/d', message: checkpointMessage({ Session: 'd' }) })
  forgeCheckpoint(fixture, remote, {
    ref: ref('huge'),
    message: checkpointMessage({ Session: 'huge' }, '', 'x'.repeat(2_000_000)),
  })
  forgeCheckpoint(fixture, remote, {
    ref: ref('many'),
    message: checkpointMessage({ Session: 'many' }, 'Oneshot-Nested: a commit b\n'.repeat(100_000)),
  })
  fixture.git(remote, 'update-ref', ref('blob'), writeObject(fixture, remote, 'blob', 'x'))
  forgeCheckpoint(fixture, remote, {
    ref: 'refs/oneshot/demo-clash/clash',
    message: checkpointMessage({ Session: 'clash' }),
  })
  fixture.git(clone, 'update-ref', 'refs/oneshot/demo-clash', 'HEAD')
  const { taken } = await fetchAll(scene)
  expect(taken.map(one => one.ref)).toEqual([ref('good')])
  expect(await fixture.checkpoints().findSessions(clone)).toMatchObject([{ name: 'demo-work', sessionId: 'good' }])
  expect(fixture.git(clone, 'for-each-ref', '--format=%(refname)', 'refs/oneshot', 'refs/oneshot-*')).toBe(
    `refs/oneshot/demo-clash\n${ref('good')}\n`,
  )
})

test('resume --dry-run and restore from a remote with forged checkpoints delete no folder', async () => {
  const { bench: fixture, remote, clone } = begin()
  const testHome = new TestHome()
  onTestFinished(() => testHome.close())
  const victims = ['../victim', '../../victim', 'victim'].map(id => path.join(testHome.home.sessions, id, 'git'))
  for (const folder of victims) {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
    fs.writeFileSync(path.join(folder, 'kept'), '')
  }
  const ids = ['../victim', '../../victim', 'victim', '%2e%2e/victim', path.join(testHome.home.sessions, '../victim')]
  for (const [at, id] of ids.entries())
    forgeCheckpoint(fixture, remote, {
      ref: `refs/oneshot/demo-far/far${at}`,
      message: checkpointMessage({ Session: id }),
    })
  for (const words of [
    ['resume'],
    ['resume', 'far'],
    ['resume', 'demo-far'],
    ['restore', 'demo-far', '--branch', 'x'],
  ]) {
    const args = [...words, '--from', remote, ...(words[0] === 'resume' ? ['--dry-run'] : [])]
    const { code, stderr } = await testHome.call(args, { cwd: clone })
    expect({ code: code === 0, stderr }).toMatchObject({
      code: false,
      stderr: expect.stringContaining('cannot be read: its record is damaged'),
    })
  }
  for (const folder of victims) expect(fs.readdirSync(folder)).toEqual(['kept'])
  expect(fixture.git(clone, 'for-each-ref', 'refs/oneshot')).toBe('')
})

test('oneshot ignores bad refs that are in the repository already', async () => {
  const { bench: fixture, clone } = begin()
  forgeCheckpoint(fixture, clone, {
    ref: 'refs/oneshot/demo-work/date',
    message: checkpointMessage({ Session: 'date', At: 'x' }),
  })
  forgeCheckpoint(fixture, clone, {
    ref: 'refs/oneshot/demo-work/up',
    message: checkpointMessage({ Session: '../../up' }),
  })
  forgeCheckpoint(fixture, clone, { ref: 'refs/oneshot/demo-file', message: checkpointMessage({ Session: 'file' }) })
  expect(await fixture.checkpoints().findSessions(clone)).toEqual([])
  const keeping = { cwd: clone, name: 'demo-work', sessionId: uncheckedSessionId('../../..') }
  await expect(fixture.checkpoints().removeAll(keeping)).rejects.toThrow('is no id of a session')
  await expect(fixture.checkpoints().list({ ...keeping, sessionId: testSessionId('up') })).resolves.toEqual([])
})

test('a fetch takes only the sessions that oneshot asks for, and replaces no checkpoint of this machine', async () => {
  const scene = begin()
  const { bench: fixture, remote, clone } = scene
  const checkpoints = fixture.checkpoints()
  const keeping = fixture.checkpointTarget(clone)
  const mine = await savedCheckpoint(checkpoints.save(keeping, makeCheckpointRequest(), NEVER))
  const ref = `refs/oneshot/demo-work/${keeping.sessionId}`
  forgeCheckpoint(fixture, remote, {
    ref,
    message: checkpointMessage({ Session: keeping.sessionId, Checkpoint: '999999' }),
  })
  forgeCheckpoint(fixture, remote, { ref: 'refs/oneshot/demo-far/far', message: checkpointMessage({ Session: 'far' }) })
  forgeCheckpoint(fixture, remote, { ref: 'refs/oneshot/demo-not/not', message: checkpointMessage({ Session: 'not' }) })
  const { name, sessionId } = keeping
  const wanted: SessionFilter = all => all.filter(one => one.name !== 'demo-not')
  const fetched = await checkpoints.fetch(clone, { remote, env: env(fixture) }, wanted, NEVER)
  expect(fetched).toMatchObject({ taken: [{ ref: 'refs/oneshot/demo-far/far' }], diverged: [{ name, sessionId }] })
  expect((await checkpoints.list(keeping)).at(-1)).toEqual(mine)
  await checkpoints.undoFetch(clone, fetched)
  expect(fixture.git(clone, 'for-each-ref', '--format=%(refname)', 'refs/oneshot')).toBe(`${ref}\n`)
})

/** Forges a checkpoint with a nested repository, and restores it into a worktree. */
async function restoreNested(paths: (root: string) => string[], entries: 'link' | 'none' = 'none') {
  const scene = begin()
  const { bench: fixture, remote, clone } = scene
  const outside = path.join(fixture.root, 'outside')
  fs.mkdirSync(outside)
  const file = writeObject(fixture, remote, 'blob', 'evil\n')
  const evil = forgeCheckpoint(fixture, remote, {
    ref: 'refs/heads/evil',
    message: 'evil',
    tree: writeTree(fixture, remote, [{ mode: '100644', name: 'authorized_keys', id: file }]),
  })
  const link = writeObject(fixture, remote, 'blob', outside)
  const plain = { mode: '100644', name: 'plain', id: file } as const
  const tree = writeTree(
    fixture,
    remote,
    entries === 'none' ? [plain] : [{ mode: '120000', name: 'link', id: link }, plain],
  )
  const nested = paths(fixture.root).map(one => `Oneshot-Nested: ${one} commit ${evil}\n`)
  const ref = 'refs/oneshot/demo-far/far'
  forgeCheckpoint(fixture, remote, {
    ref,
    message: checkpointMessage({ Session: 'far' }, nested.join('')),
    tree,
    parents: [evil],
  })
  await fetchAll(scene)
  const target: CheckpointTarget = { cwd: clone, name: 'demo-far', sessionId: testSessionId('far') }
  const [last] = await fixture.checkpoints().list(target)
  if (last === undefined) throw new Error('it was not fetched')
  const worktree = path.join(fixture.root, 'look')
  const unable = await fixture.checkpoints().restoreToBranch(target, last, { branch: 'look', worktree })
  return {
    unable,
    outside: fs.readdirSync(outside),
    root: fs.readdirSync(fixture.root),
    look: fs.readdirSync(worktree),
    bench: fixture,
    keeping: target,
    last,
  }
}

test('a restore into a worktree writes nothing outside of it', async () => {
  const { outside, root, look } = await restoreNested(root => [
    `${root}/pwned`,
    '../pwned',
    'a/../../pwned',
    '.git/hooks',
    '%2e%2e/pwned',
    'x%2f..%2f..%2fpwned',
  ])
  expect([outside, root.includes('pwned'), look]).toEqual([[], false, ['.git', 'plain']])
})

test('a restore puts a nested repository neither behind a link nor in the place of a file', async () => {
  const { outside, unable, look } = await restoreNested(
    () => ['link', 'link/sub', 'plain', 'plain/sub', 'fresh'],
    'link',
  )
  expect([outside, look]).toEqual([[], ['.git', 'fresh', 'link', 'plain']])
  expect(unable).toHaveLength(4)
})

test('a forged checkpoint does not change a repository of the user that lies in the working tree', async () => {
  const scene = begin()
  const { bench: fixture, remote, clone } = scene
  const inner = fixture.repository('clone/inner')
  put(inner, 'secret.txt', 'mine\n')
  fixture.git(inner, 'add', '.')
  fixture.git(inner, 'commit', '--quiet', '--message', 'mine')
  const head = fixture.git(inner, 'rev-parse', 'HEAD').trim()
  const file = writeObject(fixture, remote, 'blob', 'plain\n')
  const refs = ['none', 'gitlink'].map(kind => {
    const gitlink = kind === 'none' ? [] : [{ mode: '160000', name: 'inner', id: head } as const]
    const tree = writeTree(fixture, remote, [...gitlink, { mode: '100644', name: 'plain', id: file }])
    const nested = `Oneshot-Nested: inner commit ${head}\nOneshot-Nested: inner/deep commit ${head}\n`
    const ref = `refs/oneshot/demo-far/${kind}`
    forgeCheckpoint(fixture, remote, { ref, message: checkpointMessage({ Session: kind }, nested), tree })
    return kind
  })
  await fetchAll(scene)
  const state = (): string[] => fs.readdirSync(path.join(inner, '.git'), { recursive: true }).map(String).sort()
  const before = state()
  const checkpoints = fixture.checkpoints()
  for (const sessionId of refs) {
    const keeping: CheckpointTarget = { cwd: clone, name: 'demo-far', sessionId: testSessionId(sessionId) }
    const [last] = await checkpoints.list(keeping)
    if (last === undefined) throw new Error('it was not fetched')
    const worktree = path.join(fixture.root, `look-${sessionId}`)
    const unable = await checkpoints.restoreToBranch(keeping, last, { branch: `look-${sessionId}`, worktree })
    expect(unable).toContain('the repository inner is not restored')
    expect(fs.existsSync(path.join(worktree, 'inner/secret.txt'))).toBe(false)
    await checkpoints.diffStat(keeping, last.commit, last.commit)
  }
  expect(state()).toEqual(before)
})

test('a second restore brings a nested repository back after the user removed the worktree by hand', async () => {
  const { bench: fixture, keeping, last, look } = await restoreNested(() => ['sub'])
  expect(look).toEqual(['.git', 'plain', 'sub'])
  const worktree = path.join(fixture.root, 'look')
  fs.rmSync(worktree, { recursive: true })
  expect(await fixture.checkpoints().restoreToBranch(keeping, last, { branch: 'look', worktree })).toEqual([])
  expect(fs.readdirSync(path.join(worktree, 'sub'))).toEqual(['.git', 'authorized_keys'])
})

test('oneshot refuses a forged tree of too many files and restores nothing of it', async () => {
  const scene = begin()
  const { bench: fixture, remote, clone } = scene
  let id = writeObject(fixture, remote, 'blob', 'x')
  for (let level = 0; level < 10; level++) {
    const mode = level === 0 ? '100644' : '40000'
    const names = Array.from({ length: 32 }, (_, at) => `f${String(at).padStart(2, '0')}`)
    id = writeTree(
      fixture,
      remote,
      names.map(name => ({ mode, name, id }) as const),
    )
  }
  forgeCheckpoint(fixture, remote, {
    ref: 'refs/oneshot/demo-far/far',
    message: checkpointMessage({ Session: 'far' }),
    tree: id,
  })
  await fetchAll(scene)
  const checkpoints = fixture.checkpoints()
  const keeping = { cwd: clone, name: 'demo-far', sessionId: testSessionId('far') }
  const [last] = await checkpoints.list(keeping)
  if (last === undefined) throw new Error('it was not fetched')
  const to = { branch: 'look', worktree: path.join(fixture.root, 'look') }
  await expect(checkpoints.restoreToBranch(keeping, last, to)).rejects.toThrow('more than 1000000 files')
  await expect(checkpoints.compareWorktree(keeping, last)).rejects.toThrow('more than 1000000 files')
  await expect(checkpoints.diffStat(keeping, last.commit, last.commit)).rejects.toThrow('more than 1000000 files')
  expect(fs.existsSync(to.worktree)).toBe(false)
})

test('oneshot reads only the newest 5,000 checkpoints of a very long chain', async () => {
  const scene = begin()
  const { bench: fixture, remote, clone } = scene
  const length = attackSize(8_000, 100_000)
  const commits = Array.from({ length }, (_, at) => {
    const message = checkpointMessage({ Session: 'far', Checkpoint: `${at + 1}` })
    const who = 'committer o <o@o> 1767225600 +0000'
    return `commit refs/oneshot/demo-far/far\n${who}\ndata ${Buffer.byteLength(message)}\n${message}\n`
  })
  const input = `feature done\n${commits.join('')}done\n`
  expect(spawnSync('git', ['fast-import', '--quiet'], { cwd: remote, env: fixture.env, input }).status).toBe(0)
  await fetchAll(scene)
  const all = await fixture.checkpoints().list({ cwd: clone, name: 'demo-far', sessionId: testSessionId('far') })
  expect([all.length, all.at(-1)?.number]).toEqual([5_000, length])
})
