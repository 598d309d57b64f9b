import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { waitUntil } from '../../testkit/system/wait-until.ts'
import { NEVER, makeCheckpointRequest, openGitFixture, put, savedCheckpoint } from './git-fixture.ts'
import { readTree, readUserState } from './read-tree.ts'

test('a checkpoint contains new files and no ignored ones, and the user notices nothing', async () => {
  const fixture = openGitFixture()
  const repo = fixture.repository('repo')
  put(repo, 'a.txt', 'one\n')
  put(repo, '.gitignore', 'build/\n')
  fixture.git(repo, 'add', '.')
  fixture.git(repo, 'commit', '--quiet', '-m', 'first')
  put(repo, 'a.txt', 'one\ntwo\n')
  put(repo, 'new/b.txt', 'b\n', 0o755)
  put(repo, 'build/out', 'x')
  put(repo, 'staged.txt', 'staged')
  fixture.git(repo, 'add', 'staged.txt')
  const before = readUserState(repo)
  const checkpoints = fixture.checkpoints()
  const target = fixture.checkpointTarget(repo)

  const first = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest({ trigger: 'start' }), NEVER))
  expect(first).toEqual({
    number: 1,
    commit: expect.stringMatching(/^[0-9a-f]{40}$/),
    at: 1_800_000_000_123,
    trigger: 'start',
    attempt: 1,
    head: fixture.git(repo, 'rev-parse', 'HEAD').trim(),
    change: { files: 3, added: 3, removed: 0 },
    leftOut: [],
  })
  expect(await checkpoints.save(target, makeCheckpointRequest(), NEVER)).toMatchObject({ isNew: false })
  expect(readUserState(repo)).toEqual(before)
  const files = fixture.git(repo, 'ls-tree', '-r', '--name-only', first.commit).trim().split('\n')
  expect(files).toEqual(['.gitignore', 'a.txt', 'new/b.txt', 'staged.txt'])
  expect(await checkpoints.readRecord(target, first.commit)).toBe('{"goal":"x"}')

  put(repo, 'a.txt', 'three\n')
  fs.rmSync(path.join(repo, 'staged.txt'))
  const second = await savedCheckpoint(checkpoints.save(target, makeCheckpointRequest(), NEVER))
  expect(second.change).toEqual({ files: 2, added: 1, removed: 3 })
  expect(await checkpoints.list(target)).toEqual([first, second])
  expect(await fixture.checkpoints().list(target)).toEqual([first, second])
  expect(await checkpoints.diffStat(target, first.commit, second.commit)).toEqual(second.change)
  expect(await checkpoints.diff(target, first.commit, second.commit, { stat: true })).toContain('a.txt')
  expect(await checkpoints.findSessions(repo)).toEqual([
    { name: 'demo-work', sessionId: target.sessionId, last: second, record: '{"goal":"x"}' },
  ])

  const over = await savedCheckpoint(
    checkpoints.save(target, makeCheckpointRequest({ trigger: 'restore' }), NEVER),
  ).catch(() => second)
  expect(await checkpoints.restoreInPlace(target, first, over)).toEqual([])
  expect(readTree(repo).get('a.txt')).toBe('file one\ntwo\n')
  expect(readTree(repo).get('staged.txt')).toBe('file staged')
  const beside = path.join(fixture.root, 'beside')
  expect(await checkpoints.restoreToBranch(target, second, { branch: 'again', worktree: beside })).toEqual([])
  expect([...readTree(beside).keys()]).toEqual(['.gitignore', 'a.txt', 'new/b.txt'])
  await checkpoints.removeAll(target)
  expect(await checkpoints.list(target)).toEqual([])
})

test('the checkpointer saves unchanged files again only if the request calls its record news', async () => {
  const fixture = openGitFixture()
  const repo = fixture.repository('repo')
  put(repo, 'a.txt', 'one\n')
  const checkpoints = fixture.checkpoints()
  const target = fixture.checkpointTarget(repo)
  const first = await savedCheckpoint(
    checkpoints.save(target, makeCheckpointRequest({ record: '{"state":"running"}' }), NEVER),
  )
  const ended = makeCheckpointRequest({ trigger: 'end', record: '{"state":"done"}' })
  expect(await checkpoints.save(target, ended, NEVER)).toEqual({ checkpoint: first, isNew: false })

  const told = { ...ended, isRecordNews: true }
  const second = await savedCheckpoint(checkpoints.save(target, told, NEVER))
  expect(second).toMatchObject({ number: 2, trigger: 'end', change: { files: 0, added: 0, removed: 0 } })
  expect(await checkpoints.readRecord(target, second.commit)).toBe('{"state":"done"}')
  expect(await checkpoints.save(target, told, NEVER)).toEqual({ checkpoint: second, isNew: false })
  expect(await fixture.checkpoints().save(target, told, NEVER)).toEqual({ checkpoint: second, isNew: false })
})

test('the next checkpoint contains a change that an agent made during a save, in the same second and at the same length', async () => {
  const fixture = openGitFixture()
  const repo = fixture.repository('repo')
  const begun = path.join(fixture.root, 'begun')
  fixture.git(repo, 'config', '--global', 'filter.slow.clean', `touch ${begun}; sleep 1.1; cat`)
  put(repo, '.gitattributes', '*.slow filter=slow\n')
  put(repo, 'z.slow', 'z')
  const checkpoints = fixture.checkpoints()
  const target = fixture.checkpointTarget(repo)
  put(repo, 'a.txt', 'version 1')
  const second = Math.ceil(Date.now() / 1000)
  fs.utimesSync(path.join(repo, 'a.txt'), second, second)
  const saving = checkpoints.save(target, makeCheckpointRequest(), NEVER)
  await waitUntil('a.txt was read', () => fs.existsSync(begun))
  put(repo, 'a.txt', 'version 2')
  fs.utimesSync(path.join(repo, 'a.txt'), second, second)
  await saving
  const { checkpoint } = await checkpoints.save(target, makeCheckpointRequest(), NEVER)
  expect(fixture.git(repo, 'show', `${checkpoint.commit}:a.txt`)).toBe('version 2')
})

test('a checkpoint uses neither the untracked cache nor the bigFileThreshold of the user', async () => {
  const fixture = openGitFixture()
  const repo = fixture.repository('repo')
  fixture.git(repo, 'config', 'core.untrackedCache', 'true')
  fixture.git(repo, 'config', 'core.bigFileThreshold', '1k')
  fixture.git(repo, 'config', 'status.showUntrackedFiles', 'all')
  put(repo, 'a.bin', 'x'.repeat(100_000))
  fixture.git(repo, 'status')
  const target = fixture.checkpointTarget(repo)
  await savedCheckpoint(fixture.checkpoints().save(target, makeCheckpointRequest(), NEVER))
  expect(fs.readdirSync(path.join(repo, '.git/objects/pack'))).toEqual([])
  const folder = path.join(fixture.state, target.sessionId)
  const [index = ''] = fs.readdirSync(folder).filter(name => name.startsWith('index-'))
  expect(fs.readFileSync(path.join(folder, index)).includes('UNTR')).toBe(false)
})
