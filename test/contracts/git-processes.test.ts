import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { gitWorktrees } from '../../src/world/git/worktrees/git-worktrees.ts'
import { countGit } from './count-git.ts'
import { NEVER, makeCheckpointRequest, openGitFixture, put } from './git-fixture.ts'
import { openWorktreesFixture } from './worktrees-fixture.ts'

/** The processes of one look at a working tree: most of the time of a checkpoint is their start. */
const LOOK = ['status', 'update-index', 'write-tree', 'diff-tree', 'update-ref']

test('a checkpoint with changes starts six git processes, one without changes starts two', async () => {
  const fixture = openGitFixture()
  const repo = fixture.repository('repo')
  put(repo, 'a.txt', 'a\n')
  fixture.git(repo, 'add', '.')
  fixture.git(repo, 'commit', '--quiet', '-m', 'first')
  const counter = countGit(fixture)
  const checkpoints = fixture.checkpoints({ env: counter.env })
  const target = fixture.checkpointTarget(repo)
  const save = () => checkpoints.save(target, makeCheckpointRequest(), NEVER)
  await save()
  put(repo, 'new.txt', 'new\n')
  expect(await counter.during(save)).toEqual(LOOK)
  put(repo, 'a.txt', 'b\n')
  expect(await counter.during(save)).toEqual(['status', 'check-ignore', ...LOOK.slice(1)])
  expect(await counter.during(save)).toEqual(['status', 'check-ignore'])
  fixture.expectIntact(repo)
})

test('the first checkpoint of a further session starts no more git processes than a later one', async () => {
  const fixture = openGitFixture()
  const repo = fixture.repository('repo')
  put(repo, 'a.txt', 'a\n')
  fixture.git(repo, 'add', '.')
  fixture.git(repo, 'commit', '--quiet', '-m', 'first')
  const counter = countGit(fixture)
  const checkpoints = fixture.checkpoints({ env: counter.env })
  const save = () => checkpoints.save(fixture.checkpointTarget(repo), makeCheckpointRequest(), NEVER)
  put(repo, 'new.txt', 'new\n')
  await save()
  put(repo, 'a.txt', 'b\n')
  expect(await counter.during(save)).toEqual(['status', 'check-ignore', ...LOOK.slice(1)])
  expect(await counter.during(save)).toEqual(['status', 'check-ignore', 'diff-tree', 'update-ref'])
  fixture.expectIntact(repo)
})

test('the snapshot and the evidence of a loop’s iteration start six git processes each', async () => {
  const fixture = openWorktreesFixture()
  const { repo } = fixture
  const counter = countGit(fixture)
  const worktrees = gitWorktrees({ env: counter.env })
  await worktrees.collectEvidence(repo, await worktrees.snapshot(repo), [])
  put(repo, 'first.txt', 'first\n')
  let since = await worktrees.snapshot(repo)
  put(repo, 'a.txt', 'b\n')
  expect(await counter.during(async () => (since = await worktrees.snapshot(repo)))).toEqual([
    'status',
    'check-ignore',
    ...LOOK.slice(1),
  ])
  put(repo, 'second.txt', 'second\n')
  const calls = await counter.during(async () => {
    const { changed } = await worktrees.collectEvidence(repo, since, [])
    expect(changed).toMatchObject([{ name: 'second.txt', isCommitted: false }])
    const texts = await worktrees.readTextChanges({ cwd: repo, top: repo }, changed)
    expect(texts.changes).toMatchObject([{ path: 'second.txt', before: null, after: 'second\n' }])
  })
  expect(calls).toEqual(['status', 'check-ignore', ...LOOK.slice(1)])
})

test('the evidence names the uncommitted files without a comparison of trees, as git would name them', async () => {
  const fixture = openWorktreesFixture()
  const { repo } = fixture
  const counter = countGit(fixture)
  const worktrees = gitWorktrees({ env: counter.env })
  for (const name of ['kept', 'edited', 'deleted', 'restored', 'unstaged']) fixture.commit(repo, name, `${name}\n`)
  fixture.git(repo, 'update-index', '--assume-unchanged', 'kept')
  fixture.git(repo, 'rm', '--quiet', '--cached', 'unstaged')
  put(repo, 'restored', 'other\n')
  put(repo, 'made-and-removed', 'made\n')
  put(repo, 'made', 'made\n')
  const { now: since } = await worktrees.collectEvidence(repo, await worktrees.snapshot(repo), [])
  put(repo, 'restored', 'restored\n')
  put(repo, 'edited', 'other\n')
  put(repo, 'made-now', 'now\n')
  for (const name of ['deleted', 'made-and-removed']) fs.rmSync(path.join(repo, name))
  const found: string[][] = []
  const calls = await counter.during(async () => {
    const { loose, now } = await worktrees.collectEvidence(repo, since, [])
    found.push([...loose].sort(), [now.tree])
  })
  expect(calls.filter(call => call === 'diff-tree')).toHaveLength(1)
  const byGit = fixture
    .git(repo, 'diff-tree', '-r', '--name-only', 'HEAD', ...(found[1] ?? []))
    .trim()
    .split('\n')
  expect(found[0]).toEqual(byGit.sort())
  expect(byGit).toEqual(['deleted', 'edited', 'made', 'made-now'])
})
