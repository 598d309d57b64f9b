import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { newTask } from '../../src/core/loop/loop-updates.ts'
import type { LoopTask } from '../../src/core/loop/loop-state.ts'
import { RefWatch } from '../../src/loop/audit/ref-watch.ts'
import { testSessionId } from '../../testkit/core/ids.ts'
import { put } from './git-fixture.ts'
import { openWorktreesFixture } from './worktrees-fixture.ts'

const TASK = newTask(
  { key: 'two', label: '2', title: 'two', isDone: false, after: [] } as unknown as LoopTask['item'],
  2,
)

/** A repository with branches, tags and a stash of the user; `agent` runs git as an agent whose commands are written down. */
async function watched(): Promise<{
  bench: ReturnType<typeof openWorktreesFixture>
  agent: (...args: string[]) => void
  look: () => Promise<readonly string[]>
  inspect: () => ReturnType<RefWatch['inspect']>
  refs: () => string
}> {
  const fixture = openWorktreesFixture()
  const { repo, shop: worktrees, git, commit, env } = fixture
  for (const name of ['feature', "it's", 'moved', 'deep/er']) git(repo, 'branch', name)
  git(repo, 'tag', 'v1')
  git(repo, 'tag', '-a', 'v2', '-m', 'noted')
  git(repo, 'pack-refs', '--all')
  git(repo, 'branch', 'loose')
  commit(repo, 'more.txt', 'more\n')
  put(repo, 'a.txt', 'stashed\n')
  git(repo, 'stash', '--quiet')
  const trace = path.join(fixture.root, 'trace')
  const agent = (...args: string[]): void => {
    execFileSync('git', args, { cwd: repo, env: { ...env, GIT_TRACE2_EVENT: trace }, stdio: 'pipe' })
  }
  const watch = new RefWatch({ worktrees, cwd: repo, id: testSessionId('loop') })
  await watch.start()
  const refs = (): string => git(repo, 'for-each-ref', 'refs/heads', 'refs/tags', 'refs/stash')
  const inspect = () => watch.inspect(TASK, trace)
  return { bench: fixture, agent, inspect, look: async () => (await inspect()).notes, refs }
}

test('the ref watch names branches, tags and stashes that an agent deletes or moves, with the command that brings them back', async () => {
  const { bench: fixture, agent, look, refs } = await watched()
  const before = refs()
  agent('branch', '-q', '-D', 'feature', "it's")
  agent('tag', '-d', 'v2')
  agent('update-ref', 'refs/heads/moved', 'HEAD')
  agent('stash', 'drop', '-q')
  agent('branch', 'of-the-agent')
  const told = await look()
  expect(told.map(note => note.replaceAll(/[0-9a-f]{10,}/g, 'ID'))).toEqual([
    'the agent of task 2 deleted your branch feature: `git branch feature ID` brings it back',
    "the agent of task 2 deleted your branch it's: `git branch 'it'\\''s' ID` brings it back",
    'the agent of task 2 moved your branch moved from ID to ID: `git branch -f moved ID` brings it back',
    'the agent of task 2 deleted your tag v2: `git tag v2 ID` brings it back',
    'the agent of task 2 dropped a stash of yours: `git stash store ID` brings it back',
  ])
  for (const note of told)
    execFileSync('sh', ['-c', /`(.*)`/.exec(note)?.[1] ?? 'false'], {
      cwd: fixture.repo,
      env: fixture.env,
      stdio: 'pipe',
    })
  fixture.git(fixture.repo, 'branch', '-D', 'of-the-agent')
  expect(refs()).toBe(before)
  expect(await look()).toEqual([])
})

test('the ref watch names one command for many lost branches and tags, and blames no agent for changes by the user', async () => {
  const { bench: fixture, agent, look, refs } = await watched()
  const { repo, git } = fixture
  const before = refs()
  agent('branch', '-q', '-D', 'feature', 'moved', 'deep/er', 'loose', "it's")
  agent('tag', '-d', 'v1', 'v2')
  const [note = '', ...more] = await look()
  expect([more, note]).toEqual([[], expect.stringContaining('and 2 more branches and tags were deleted or moved')])
  execFileSync('sh', ['-c', /`(.*)`/.exec(note)?.[1] ?? 'false'], { cwd: repo, env: fixture.env, stdio: 'pipe' })
  expect(refs()).toBe(before)
  expect(await look()).toEqual([])
  git(repo, 'branch', '--quiet', '--force', 'loose', 'HEAD')
  git(repo, 'branch', '--quiet', 'fresh')
  git(repo, 'stash', 'drop', '--quiet')
  const unnamed = path.join(repo, '.git/refs/heads/fresh')
  expect(await look()).toEqual([])
  fs.rmSync(unnamed)
  expect(await look()).toEqual([
    expect.stringMatching(/^your branch fresh was deleted while an agent worked on task 2: `git branch fresh /),
  ])
})

test('the ref watch names the branches that an agent made and left, also by a worktree', async () => {
  const { bench: fixture, agent, inspect } = await watched()
  agent('branch', 'made')
  agent('worktree', 'add', '--quiet', '../beside')
  agent('tag', 'made')
  fixture.git(fixture.repo, 'branch', 'of-the-user')
  const { notes, newBranches } = await inspect()
  expect({ notes, newBranches: newBranches.toSorted() }).toEqual({
    notes: [],
    newBranches: ['refs/heads/beside', 'refs/heads/made'],
  })
})
