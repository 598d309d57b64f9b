import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { Repository } from '../../src/world/git/repository.ts'
import { workerMoves } from '../../src/world/git/worktrees/evidence/reflog.ts'
import type { HeadMove } from '../../src/world/git/worktrees/evidence/reflog.ts'
import { put } from './git-fixture.ts'
import { openWorktreesFixture } from './worktrees-fixture.ts'

/** A trace of `git commit` commands, each from one second to another. */
function traceOf(
  folder: string,
  commands: readonly (readonly [from: number, until: number, ...argv: string[]])[],
): string {
  const time = (at: number): string => new Date(at * 1000).toISOString()
  const lines = commands.flatMap(([from, until, ...argv], n) => [
    { event: 'version', sid: `${n}`, time: time(from) },
    { event: 'start', sid: `${n}`, time: time(from), argv: ['git', ...argv] },
    { event: 'cmd_name', sid: `${n}`, time: time(from), name: argv[0] },
    { event: 'exit', sid: `${n}`, time: time(until), code: 0 },
  ])
  const file = path.join(folder, 'trace')
  fs.writeFileSync(file, lines.map(line => `${JSON.stringify(line)}\n`).join(''))
  return file
}

test('workerMoves credits the agent with a packed commit only if a command of the agent ran in the same second', () => {
  const { repo } = openWorktreesFixture()
  const now = Math.floor(Date.now() / 1000) - 100
  const worker = { trace: traceOf(repo, [[now + 0.2, now + 0.4, 'commit']]), since: (now - 10) * 1000 }
  const repository = { top: repo, commonDir: path.join(repo, '.git') } as Repository
  const move = (at: number): HeadMove => ({ to: 'packed', at, message: 'commit: x' })
  const seconds = [now - 1, now, now + 1].filter(at => workerMoves([move(at)], worker, repository).length > 0)
  expect(seconds).toEqual([now])
})

test('the evidence excludes a picked commit that somebody wrote before the work began', async () => {
  const { repo, shop: worktrees, git, commit, head } = openWorktreesFixture()
  git(repo, 'checkout', '--quiet', '-b', 'old')
  put(repo, 'old.txt', 'old\n')
  git(repo, 'add', '.')
  git(repo, 'commit', '--quiet', '--date=2020-01-01T00:00:00Z', '-m', 'written long ago')
  const picked = head(repo)
  git(repo, 'checkout', '--quiet', 'main')
  const since = await worktrees.snapshot(repo)
  git(repo, 'cherry-pick', picked)
  const begunAt = Date.now() - 60_000
  expect(await worktrees.collectEvidence(repo, since, [], { begunAt })).toMatchObject({
    commitCount: 0,
    change: { files: 0 },
    foreign: 1,
  })
  commit(repo, 'own.txt', 'own\n')
  expect(await worktrees.collectEvidence(repo, since, [], { begunAt })).toMatchObject({
    commitCount: 1,
    files: ['own.txt'],
  })
  // A task whose work was lost may pick that again.
  expect(await worktrees.collectEvidence(repo, since, [], { begunAt: 0 })).toMatchObject({
    commitCount: 2,
    change: { files: 2 },
  })
})

const TAKING: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'merge --squash': [
    ['merge', '--quiet', '--squash', 'other'],
    ['commit', '--quiet', '-m', 'my work'],
  ],
  'cherry-pick -n': [
    ['cherry-pick', '-n', 'other'],
    ['commit', '--quiet', '-m', 'my work'],
  ],
  'checkout of single files': [['checkout', 'other', '--', 'other.txt', 'second.txt']],
  'restore from a packed branch': [
    ['gc', '--quiet'],
    ['restore', '--source=other', '--', 'other.txt', 'second.txt'],
  ],
}

test.each(Object.entries(TAKING))(
  'the evidence excludes content that another branch had before: %s',
  async (_, commands) => {
    const { repo, shop: worktrees, git, commit } = openWorktreesFixture()
    const old = commit(repo, 'text.txt', 'old\n')
    commit(repo, 'text.txt', 'new\n')
    git(repo, 'checkout', '--quiet', '-b', 'other')
    put(repo, 'second.txt', 'second\n')
    commit(repo, 'other.txt', 'other\n')
    git(repo, 'branch', 'stale', old)
    git(repo, 'checkout', '--quiet', 'main')
    const since = await worktrees.snapshot(repo)
    // Commits are dated by the second.
    await expect.poll(() => Date.now(), { timeout: 5_000 }).toBeGreaterThan(Math.ceil(Date.now() / 1000) * 1000)
    const begunAt = Date.now()
    for (const words of commands) git(repo, ...words)
    expect(await worktrees.collectEvidence(repo, since, [], { begunAt })).toMatchObject({
      change: { files: 0 },
      foreign: 1,
    })
    put(repo, 'other.txt', 'other\nand more\n')
    git(repo, 'checkout', old, '--', 'text.txt')
    const { files } = await worktrees.collectEvidence(repo, since, [], { begunAt })
    expect(files, 'edits, and a way back within the own history, are work').toEqual(['other.txt', 'text.txt'])
    expect((await worktrees.collectEvidence(repo, since, [], { begunAt: 0 })).files).toContain('second.txt')
  },
)

test('the evidence includes work that an agent brings over from its own branch, and excludes that of another task', async () => {
  const { repo, shop: worktrees, git, commit, bench } = openWorktreesFixture()
  const [one, two] = [bench('1'), bench('2')]
  const base = { head: git(repo, 'rev-parse', 'HEAD').trim(), tree: 'main^{tree}' }
  for (const place of [one, two]) await worktrees.open(repo, place, 'main')
  commit(one.path, 'one.txt', 'one\n')
  await expect.poll(() => Date.now(), { timeout: 5_000 }).toBeGreaterThan(Math.ceil(Date.now() / 1000) * 1000)
  const begunAt = Date.now()
  git(two.path, 'checkout', '--quiet', '-b', 'aside')
  commit(two.path, 'two.txt', 'two\n')
  git(two.path, 'checkout', '--quiet', two.branch)
  git(two.path, 'merge', '--quiet', '--squash', 'aside')
  git(two.path, 'checkout', one.branch, '--', 'one.txt')
  git(two.path, 'commit', '--quiet', '-m', 'work')
  const seen = await worktrees.collectEvidence(two.path, base, [], { begunAt, branch: two.branch })
  expect(seen).toMatchObject({ files: ['two.txt'], foreign: 1 })
})
