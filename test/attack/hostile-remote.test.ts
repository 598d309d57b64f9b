import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Choice, Keeping } from '../../src/ports/checkpoints.ts'
import { type GitBench, NEVER, occasion, openGitBench, put, saved } from '../contracts/git-bench.ts'
import { House } from '../system/house.ts'
import { forge, hash, messageWith, treeOf } from './forge.ts'
import { strength } from './strength.ts'

const ALL: Choice = all => all
const env = (bench: GitBench): Record<string, string> => bench.env as Record<string, string>

/** A remote that anybody can write to, and the clone of somebody who trusts nobody. */
function begin(): { bench: GitBench; remote: string; clone: string } {
  const bench = openGitBench()
  const remote = bench.repository('remote.git', '--bare')
  const clone = bench.repository('clone')
  put(clone, 'a.txt', 'a\n')
  bench.git(clone, 'add', '.')
  bench.git(clone, 'commit', '--quiet', '--message', 'first')
  bench.git(clone, 'push', '--quiet', remote, 'main')
  return { bench, remote, clone }
}

const fetchAll = ({ bench, remote, clone }: ReturnType<typeof begin>) =>
  bench.checkpoints().fetch(clone, { remote, env: env(bench) }, ALL, NEVER)

test('one bad ref harms only itself', async () => {
  const scene = begin()
  const { bench, remote, clone } = scene
  const ref = (name: string): string => `refs/oneshot/demo-work/${name}`
  forge(bench, remote, { ref: ref('good'), message: messageWith({ Session: 'good' }) })
  forge(bench, remote, { ref: ref('date'), message: messageWith({ Session: 'date', At: 'tomorrow' }) })
  forge(bench, remote, { ref: ref('other'), message: messageWith({ Session: 'good', Checkpoint: '9' }) })
  forge(bench, remote, { ref: ref('escape'), message: messageWith({ Session: '../../../..' }) })
  forge(bench, remote, { ref: ref('good+junk'), message: messageWith({ Session: 'good', Path: 'sub' }) })
  forge(bench, remote, { ref: 'refs/oneshot/demo-file', message: messageWith({ Session: 'file' }) })
  forge(bench, remote, { ref: 'refs/oneshot/a/b/c/d', message: messageWith({ Session: 'd' }) })
  forge(bench, remote, { ref: ref('huge'), message: messageWith({ Session: 'huge' }, '', 'x'.repeat(2_000_000)) })
  forge(bench, remote, {
    ref: ref('many'),
    message: messageWith({ Session: 'many' }, 'Oneshot-Nested: a commit b\n'.repeat(100_000)),
  })
  bench.git(remote, 'update-ref', ref('blob'), hash(bench, remote, 'blob', 'x'))
  forge(bench, remote, { ref: 'refs/oneshot/demo-clash/clash', message: messageWith({ Session: 'clash' }) })
  bench.git(clone, 'update-ref', 'refs/oneshot/demo-clash', 'HEAD')
  const { taken } = await fetchAll(scene)
  expect(taken.map(one => one.ref)).toEqual([ref('good')])
  expect(await bench.checkpoints().find(clone)).toMatchObject([{ name: 'demo-work', sessionId: 'good' }])
  expect(bench.git(clone, 'for-each-ref', '--format=%(refname)', 'refs/oneshot', 'refs/oneshot-*')).toBe(
    `refs/oneshot/demo-clash\n${ref('good')}\n`,
  )
})

test('a look at a remote with forged checkpoints deletes no folder, and neither does a restore of them', async () => {
  const { bench, remote, clone } = begin()
  const house = new House()
  onTestFinished(() => house.close())
  const victims = ['../victim', '../../victim', 'victim'].map(id => path.join(house.home.sessions, id, 'git'))
  for (const folder of victims) {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
    fs.writeFileSync(path.join(folder, 'kept'), '')
  }
  const ids = ['../victim', '../../victim', 'victim', '%2e%2e/victim', path.join(house.home.sessions, '../victim')]
  for (const [at, id] of ids.entries())
    forge(bench, remote, { ref: `refs/oneshot/demo-far/far${at}`, message: messageWith({ Session: id }) })
  for (const words of [
    ['resume'],
    ['resume', 'far'],
    ['resume', 'demo-far'],
    ['restore', 'demo-far', '--branch', 'x'],
  ]) {
    const args = [...words, '--from', remote, ...(words[0] === 'resume' ? ['--dry-run'] : [])]
    const { code, stderr } = await house.call(args, { cwd: clone })
    expect({ code: code === 0, stderr }).toMatchObject({
      code: false,
      stderr: expect.stringContaining('there are no checkpoints of'),
    })
  }
  for (const folder of victims) expect(fs.readdirSync(folder)).toEqual(['kept'])
  expect(bench.git(clone, 'for-each-ref', 'refs/oneshot')).toBe('')
})

test('bad refs that are in the repository already are left out, and do no harm either', async () => {
  const { bench, clone } = begin()
  forge(bench, clone, { ref: 'refs/oneshot/demo-work/date', message: messageWith({ Session: 'date', At: 'x' }) })
  forge(bench, clone, { ref: 'refs/oneshot/demo-work/up', message: messageWith({ Session: '../../up' }) })
  forge(bench, clone, { ref: 'refs/oneshot/demo-file', message: messageWith({ Session: 'file' }) })
  expect(await bench.checkpoints().find(clone)).toEqual([])
  const keeping = { cwd: clone, name: 'demo-work', sessionId: '../../..' }
  await expect(bench.checkpoints().forget(keeping)).rejects.toThrow('is no id of a session')
  await expect(bench.checkpoints().list({ ...keeping, sessionId: 'up' })).resolves.toEqual([])
})

test('a fetch brings what is asked for, and replaces nothing that is here', async () => {
  const scene = begin()
  const { bench, remote, clone } = scene
  const checkpoints = bench.checkpoints()
  const keeping = bench.keeping(clone)
  const mine = await saved(checkpoints.save(keeping, occasion(), NEVER))
  const ref = `refs/oneshot/demo-work/${keeping.sessionId}`
  forge(bench, remote, { ref, message: messageWith({ Session: keeping.sessionId, Checkpoint: '999999' }) })
  forge(bench, remote, { ref: 'refs/oneshot/demo-far/far', message: messageWith({ Session: 'far' }) })
  forge(bench, remote, { ref: 'refs/oneshot/demo-not/not', message: messageWith({ Session: 'not' }) })
  const { name, sessionId } = keeping
  const wanted: Choice = all => all.filter(one => one.name !== 'demo-not')
  const fetched = await checkpoints.fetch(clone, { remote, env: env(bench) }, wanted, NEVER)
  expect(fetched).toMatchObject({ taken: [{ ref: 'refs/oneshot/demo-far/far' }], diverged: [{ name, sessionId }] })
  expect((await checkpoints.list(keeping)).at(-1)).toEqual(mine)
  await checkpoints.putBack(clone, fetched)
  expect(bench.git(clone, 'for-each-ref', '--format=%(refname)', 'refs/oneshot')).toBe(`${ref}\n`)
})

/** Forges a checkpoint with a nested repository, and restores it into a worktree. */
async function restoreNested(paths: (root: string) => string[], entries: 'link' | 'none' = 'none') {
  const scene = begin()
  const { bench, remote, clone } = scene
  const outside = path.join(bench.root, 'outside')
  fs.mkdirSync(outside)
  const file = hash(bench, remote, 'blob', 'evil\n')
  const evil = forge(bench, remote, {
    ref: 'refs/heads/evil',
    message: 'evil',
    tree: treeOf(bench, remote, [{ mode: '100644', name: 'authorized_keys', id: file }]),
  })
  const link = hash(bench, remote, 'blob', outside)
  const plain = { mode: '100644', name: 'plain', id: file } as const
  const tree = treeOf(bench, remote, entries === 'none' ? [plain] : [{ mode: '120000', name: 'link', id: link }, plain])
  const nested = paths(bench.root).map(one => `Oneshot-Nested: ${one} commit ${evil}\n`)
  const ref = 'refs/oneshot/demo-far/far'
  forge(bench, remote, { ref, message: messageWith({ Session: 'far' }, nested.join('')), tree, parents: [evil] })
  await fetchAll(scene)
  const keeping: Keeping = { cwd: clone, name: 'demo-far', sessionId: 'far' }
  const [last] = await bench.checkpoints().list(keeping)
  if (last === undefined) throw new Error('it was not fetched')
  const worktree = path.join(bench.root, 'look')
  const unable = await bench.checkpoints().restoreBeside(keeping, last, { branch: 'look', worktree })
  return {
    unable,
    outside: fs.readdirSync(outside),
    root: fs.readdirSync(bench.root),
    look: fs.readdirSync(worktree),
    bench,
    keeping,
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

test('a nested repository is not put behind a link, nor in the place of a file', async () => {
  const { outside, unable, look } = await restoreNested(
    () => ['link', 'link/sub', 'plain', 'plain/sub', 'fresh'],
    'link',
  )
  expect([outside, look]).toEqual([[], ['.git', 'fresh', 'link', 'plain']])
  expect(unable).toHaveLength(4)
})

test('a forged checkpoint makes no git run in a repository of yours that lies in the working tree', async () => {
  const scene = begin()
  const { bench, remote, clone } = scene
  const inner = bench.repository('clone/inner')
  put(inner, 'secret.txt', 'mine\n')
  bench.git(inner, 'add', '.')
  bench.git(inner, 'commit', '--quiet', '--message', 'mine')
  const head = bench.git(inner, 'rev-parse', 'HEAD').trim()
  const file = hash(bench, remote, 'blob', 'plain\n')
  const refs = ['none', 'gitlink'].map(kind => {
    const gitlink = kind === 'none' ? [] : [{ mode: '160000', name: 'inner', id: head } as const]
    const tree = treeOf(bench, remote, [...gitlink, { mode: '100644', name: 'plain', id: file }])
    const nested = `Oneshot-Nested: inner commit ${head}\nOneshot-Nested: inner/deep commit ${head}\n`
    const ref = `refs/oneshot/demo-far/${kind}`
    forge(bench, remote, { ref, message: messageWith({ Session: kind }, nested), tree })
    return kind
  })
  await fetchAll(scene)
  const state = (): string[] => fs.readdirSync(path.join(inner, '.git'), { recursive: true }).map(String).sort()
  const before = state()
  const checkpoints = bench.checkpoints()
  for (const sessionId of refs) {
    const keeping: Keeping = { cwd: clone, name: 'demo-far', sessionId }
    const [last] = await checkpoints.list(keeping)
    if (last === undefined) throw new Error('it was not fetched')
    const worktree = path.join(bench.root, `look-${sessionId}`)
    const unable = await checkpoints.restoreBeside(keeping, last, { branch: `look-${sessionId}`, worktree })
    expect(unable).toContain('the repository inner is not restored')
    expect(fs.existsSync(path.join(worktree, 'inner/secret.txt'))).toBe(false)
    await checkpoints.change(keeping, last.commit, last.commit)
  }
  expect(state()).toEqual(before)
})

test('a nested repository comes back a second time into a folder that was removed by hand', async () => {
  const { bench, keeping, last, look } = await restoreNested(() => ['sub'])
  expect(look).toEqual(['.git', 'plain', 'sub'])
  const worktree = path.join(bench.root, 'look')
  fs.rmSync(worktree, { recursive: true })
  expect(await bench.checkpoints().restoreBeside(keeping, last, { branch: 'look', worktree })).toEqual([])
  expect(fs.readdirSync(path.join(worktree, 'sub'))).toEqual(['.git', 'authorized_keys'])
})

test('a tree that stands for more files than there is room for is refused before it is walked', async () => {
  const scene = begin()
  const { bench, remote, clone } = scene
  let id = hash(bench, remote, 'blob', 'x')
  for (let level = 0; level < 10; level++) {
    const mode = level === 0 ? '100644' : '40000'
    const names = Array.from({ length: 32 }, (_, at) => `f${String(at).padStart(2, '0')}`)
    id = treeOf(
      bench,
      remote,
      names.map(name => ({ mode, name, id }) as const),
    )
  }
  forge(bench, remote, { ref: 'refs/oneshot/demo-far/far', message: messageWith({ Session: 'far' }), tree: id })
  await fetchAll(scene)
  const checkpoints = bench.checkpoints()
  const keeping = { cwd: clone, name: 'demo-far', sessionId: 'far' }
  const [last] = await checkpoints.list(keeping)
  if (last === undefined) throw new Error('it was not fetched')
  const to = { branch: 'look', worktree: path.join(bench.root, 'look') }
  await expect(checkpoints.restoreBeside(keeping, last, to)).rejects.toThrow('more than 1000000 files')
  await expect(checkpoints.compare(keeping, last)).rejects.toThrow('more than 1000000 files')
  await expect(checkpoints.change(keeping, last.commit, last.commit)).rejects.toThrow('more than 1000000 files')
  expect(fs.existsSync(to.worktree)).toBe(false)
})

test('a chain without end is read only so far', async () => {
  const scene = begin()
  const { bench, remote, clone } = scene
  const length = strength(8_000, 100_000)
  const commits = Array.from({ length }, (_, at) => {
    const message = messageWith({ Session: 'far', Checkpoint: `${at + 1}` })
    const who = 'committer o <o@o> 1767225600 +0000'
    return `commit refs/oneshot/demo-far/far\n${who}\ndata ${Buffer.byteLength(message)}\n${message}\n`
  })
  const input = `feature done\n${commits.join('')}done\n`
  expect(spawnSync('git', ['fast-import', '--quiet'], { cwd: remote, env: bench.env, input }).status).toBe(0)
  await fetchAll(scene)
  const all = await bench.checkpoints().list({ cwd: clone, name: 'demo-far', sessionId: 'far' })
  expect([all.length, all.at(-1)?.number]).toEqual([5_000, length])
})
