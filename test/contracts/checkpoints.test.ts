import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../../src/testkit/real/until.ts'
import { NEVER, occasion, openGitBench, put, saved } from './git-bench.ts'
import { treeIn, userState } from './working-tree.ts'

test('a working tree is saved with its new files and without its ignored ones, and the user notices nothing', async () => {
  const bench = openGitBench()
  const repo = bench.repository('repo')
  put(repo, 'a.txt', 'one\n')
  put(repo, '.gitignore', 'build/\n')
  bench.git(repo, 'add', '.')
  bench.git(repo, 'commit', '--quiet', '-m', 'first')
  put(repo, 'a.txt', 'one\ntwo\n')
  put(repo, 'new/b.txt', 'b\n', 0o755)
  put(repo, 'build/out', 'x')
  put(repo, 'staged.txt', 'staged')
  bench.git(repo, 'add', 'staged.txt')
  const before = userState(repo)
  const checkpoints = bench.checkpoints()
  const keeping = bench.keeping(repo)

  const first = await saved(checkpoints.save(keeping, occasion({ trigger: 'start' }), NEVER))
  expect(first).toEqual({
    number: 1,
    commit: expect.stringMatching(/^[0-9a-f]{40}$/),
    at: 1_800_000_000_123,
    trigger: 'start',
    attempt: 1,
    head: bench.git(repo, 'rev-parse', 'HEAD').trim(),
    change: { files: 3, added: 3, removed: 0 },
    leftOut: [],
  })
  expect(await checkpoints.save(keeping, occasion(), NEVER)).toMatchObject({ isNew: false })
  expect(userState(repo)).toEqual(before)
  const files = bench.git(repo, 'ls-tree', '-r', '--name-only', first.commit).trim().split('\n')
  expect(files).toEqual(['.gitignore', 'a.txt', 'new/b.txt', 'staged.txt'])
  expect(await checkpoints.record(keeping, first.commit)).toBe('{"goal":"x"}')

  put(repo, 'a.txt', 'three\n')
  fs.rmSync(path.join(repo, 'staged.txt'))
  const second = await saved(checkpoints.save(keeping, occasion(), NEVER))
  expect(second.change).toEqual({ files: 2, added: 1, removed: 3 })
  expect(await checkpoints.list(keeping)).toEqual([first, second])
  expect(await bench.checkpoints().list(keeping)).toEqual([first, second])
  expect(await checkpoints.change(keeping, first.commit, second.commit)).toEqual(second.change)
  expect(await checkpoints.diff(keeping, first.commit, second.commit, { stat: true, colour: false })).toContain('a.txt')
  expect(await checkpoints.find(repo)).toEqual([
    { name: 'demo-work', sessionId: keeping.sessionId, last: second, record: '{"goal":"x"}' },
  ])

  const over = await saved(checkpoints.save(keeping, occasion({ trigger: 'restore' }), NEVER)).catch(() => second)
  expect(await checkpoints.restoreHere(keeping, first, over)).toEqual([])
  expect(treeIn(repo).get('a.txt')).toBe('file one\ntwo\n')
  expect(treeIn(repo).get('staged.txt')).toBe('file staged')
  const beside = path.join(bench.root, 'beside')
  expect(await checkpoints.restoreBeside(keeping, second, { branch: 'again', worktree: beside })).toEqual([])
  expect([...treeIn(beside).keys()]).toEqual(['.gitignore', 'a.txt', 'new/b.txt'])
  await checkpoints.forget(keeping)
  expect(await checkpoints.list(keeping)).toEqual([])
})

test('another record is worth a checkpoint of the same files where it is said to be, and only then', async () => {
  const bench = openGitBench()
  const repo = bench.repository('repo')
  put(repo, 'a.txt', 'one\n')
  const checkpoints = bench.checkpoints()
  const keeping = bench.keeping(repo)
  const first = await saved(checkpoints.save(keeping, occasion({ record: '{"state":"running"}' }), NEVER))
  const ended = occasion({ trigger: 'end', record: '{"state":"done"}' })
  expect(await checkpoints.save(keeping, ended, NEVER)).toEqual({ checkpoint: first, isNew: false })

  const told = { ...ended, isRecordNews: true }
  const second = await saved(checkpoints.save(keeping, told, NEVER))
  expect(second).toMatchObject({ number: 2, trigger: 'end', change: { files: 0, added: 0, removed: 0 } })
  expect(await checkpoints.record(keeping, second.commit)).toBe('{"state":"done"}')
  expect(await checkpoints.save(keeping, told, NEVER)).toEqual({ checkpoint: second, isNew: false })
  expect(await bench.checkpoints().save(keeping, told, NEVER)).toEqual({ checkpoint: second, isNew: false })
})

test('what is written while it is saved, in the same second and at the same length, is saved the next time', async () => {
  const bench = openGitBench()
  const repo = bench.repository('repo')
  const begun = path.join(bench.root, 'begun')
  bench.git(repo, 'config', '--global', 'filter.slow.clean', `touch ${begun}; sleep 1.1; cat`)
  put(repo, '.gitattributes', '*.slow filter=slow\n')
  put(repo, 'z.slow', 'z')
  const checkpoints = bench.checkpoints()
  const keeping = bench.keeping(repo)
  put(repo, 'a.txt', 'version 1')
  const second = Math.ceil(Date.now() / 1000)
  fs.utimesSync(path.join(repo, 'a.txt'), second, second)
  const saving = checkpoints.save(keeping, occasion(), NEVER)
  await until('a.txt was read', () => fs.existsSync(begun))
  put(repo, 'a.txt', 'version 2')
  fs.utimesSync(path.join(repo, 'a.txt'), second, second)
  await saving
  const { checkpoint } = await checkpoints.save(keeping, occasion(), NEVER)
  expect(bench.git(repo, 'show', `${checkpoint.commit}:a.txt`)).toBe('version 2')
})

test('no cache of the user and no other size of packs is ours', async () => {
  const bench = openGitBench()
  const repo = bench.repository('repo')
  bench.git(repo, 'config', 'core.untrackedCache', 'true')
  bench.git(repo, 'config', 'core.bigFileThreshold', '1k')
  bench.git(repo, 'config', 'status.showUntrackedFiles', 'all')
  put(repo, 'a.bin', 'x'.repeat(100_000))
  bench.git(repo, 'status')
  const keeping = bench.keeping(repo)
  await saved(bench.checkpoints().save(keeping, occasion(), NEVER))
  expect(fs.readdirSync(path.join(repo, '.git/objects/pack'))).toEqual([])
  const folder = path.join(bench.state, keeping.sessionId)
  const [index = ''] = fs.readdirSync(folder).filter(name => name.startsWith('index-'))
  expect(fs.readFileSync(path.join(folder, index)).includes('UNTR')).toBe(false)
})
