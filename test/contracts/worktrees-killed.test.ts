import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import * as fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import type { Worktree } from '../../src/ports/worktrees.ts'
import { gitWorktrees } from '../../src/world/git/worktrees/git-worktrees.ts'
import { testSize } from '../../testkit/system/test-size.ts'
import { put } from './git-fixture.ts'
import { bundleWorktreesProgram } from './kill-at-each-change.ts'
import { runInProcess } from './worktrees-process.ts'
import { userActions, RandomWorktreesUsers } from './random-worktrees-users.ts'
import { openWorktreesFixture, type WorktreesFixture } from './worktrees-fixture.ts'

const RUNS = Number(process.env['RUNS'] ?? testSize(1, 5))

const program = bundleWorktreesProgram()

test('eight processes that open worktrees at once all succeed', async () => {
  const all = openWorktreesFixture()
  const { repo, bench, git, head } = all
  for (let n = 0; n < 20; n++) put(repo, `many/${n}.txt`, `${n}\n`)
  all.commit(repo, 'b.txt', 'b')
  const benches = Array.from({ length: 8 }, (_, n) => bench(`${n}`))
  const answers = await Promise.all(benches.map(one => runInProcess(all, program(), ['open', repo, one, 'main'])))
  expect(answers).toEqual(benches.map(() => 'done'))
  expect(benches.map(one => git(one.path, 'status', '--porcelain') + head(one.path))).toEqual(
    benches.map(() => head(repo)),
  )
})

test('a loop waits for a lock that somebody holds, and removes an old lock that somebody left behind', async () => {
  const { repo, bench, shop: worktrees } = openWorktreesFixture()
  const lock = path.join(repo, '.git/refs/heads/oneshot/demo/one.lock')
  put(repo, '.git/refs/heads/oneshot/demo/one.lock')
  setTimeout(() => fs.rmSync(lock), 500)
  await worktrees.open(repo, bench('one'), 'main')
  put(bench('one').path, 'x.txt', 'x')
  const left = path.join(repo, '.git/worktrees/one/index.lock')
  fs.writeFileSync(left, '')
  fs.utimesSync(left, 0, 0)
  await worktrees.commitAll(bench('one'), 'x', [], 'main')
})

/** A lock that a git left an hour ago. */
function leave(repo: string, name: string): string {
  const lock = path.join(repo, '.git', name)
  put(repo, `.git/${name}`)
  fs.utimesSync(lock, Date.now() / 1000 - 3_600, Date.now() / 1000 - 3_600)
  return lock
}

test('a loop removes packed-refs.lock that a killed git has left, and none that a living git may hold', async () => {
  const { repo, bench, shop: worktrees, env } = openWorktreesFixture()
  await worktrees.open(repo, bench('one'), 'main')
  const holder = spawn('git', ['cat-file', '--batch'], { cwd: repo, env, stdio: ['pipe', 'ignore', 'ignore'] })
  const ended = once(holder, 'exit')
  await once(holder, 'spawn')
  const lock = leave(repo, 'packed-refs.lock')
  onTestFinished(() => void holder.kill('SIGKILL'))
  const hasty = gitWorktrees({ env, timeout: 3_000 })
  await expect(hasty.remove(repo, bench('one'), 'main')).rejects.toThrow()
  expect(fs.existsSync(lock), 'a git that is older than the lock lives').toBe(true)
  holder.stdin.end()
  await ended
  const begun = Date.now()
  expect(await worktrees.remove(repo, bench('one'), 'main')).toEqual({ kind: 'gone' })
  expect(Date.now() - begun).toBeLessThan(15_000)
  expect(fs.existsSync(lock)).toBe(false)
})

test('a landing names the index.lock that blocks it, and the command that removes it', async () => {
  const { repo, git, shop: worktrees, commit } = openWorktreesFixture()
  git(repo, 'checkout', '--quiet', '-b', 'work')
  commit(repo, 'new.txt', 'new')
  git(repo, 'checkout', '--quiet', 'main')
  const lock = leave(repo, 'index.lock')
  const begun = Date.now()
  const landing = worktrees.land(repo, 'work', 'land')
  await expect(landing).rejects.toMatchObject({ mayHelpToRetry: false })
  await expect(landing).rejects.toThrow(`${lock} has been there for 1 h`)
  await expect(landing).rejects.toThrow(`rm -- ${lock}`)
  expect(Date.now() - begun).toBeLessThan(15_000)
  expect(fs.existsSync(lock), 'a person decides about their own checkout').toBe(true)
  fs.rmSync(lock)
  await worktrees.land(repo, 'work', 'land')
})

test('a kill of any process at any moment loses no work in worktrees and changes no file of the user', async () => {
  const first = new RandomWorktreesUsers(program())
  await first.all.shop.open(first.all.repo, first.into, 'main')
  const usual = await first.rehearse()
  await fc.assert(
    fc.asyncProperty(userActions, async deeds => {
      const story = new RandomWorktreesUsers(program(), usual)
      const { all, into } = story
      await all.shop.open(all.repo, into, 'main')
      for (const who of [0, 1]) {
        await story.does({ kind: 'open', who, fate: null })
        await story.does({ kind: 'edit', who, file: 'own', isCommitted: true })
      }
      const before = all.userState()
      for (const deed of deeds) {
        await story.does(deed)
        story.expectAllThere()
        expect(all.userState()).toEqual(before)
      }
      await expectToGoOn(all, into)
      story.expectAllThere()
      all.expectIntact(all.repo)
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
}, 600_000)

/** After all of it, everything can be done as if nothing had happened. */
async function expectToGoOn(
  { shop: worktrees, repo, bench, commit, git }: WorktreesFixture,
  into: Worktree,
): Promise<void> {
  const last = bench('last')
  await worktrees.open(repo, last, 'main')
  commit(last.path, 'last.txt', 'last')
  for (const name of ['one', 'two', 'three']) await worktrees.open(repo, bench(name), into.branch)
  await worktrees.reset(into, 'main')
  expect(await worktrees.merge(into, last.branch, 'last')).toMatchObject({ kind: 'merged' })
  expect(git(into.path, 'status', '--porcelain')).toBe('')
  expect(await worktrees.remove(repo, last, into.branch)).toEqual({ kind: 'gone' })
}
