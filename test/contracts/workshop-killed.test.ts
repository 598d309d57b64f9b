import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import * as fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import type { Bench } from '../../src/ports/workshop.ts'
import { gitWorkshop } from '../../src/world/git/workshop/git-workshop.ts'
import { put } from './git-bench.ts'
import { theProgram } from './shop-deaths.ts'
import { byHand } from './shop-hands.ts'
import { anyDeeds, Story } from './shop-story.ts'
import { openShopBench, type ShopBench } from './workshop-bench.ts'

const RUNS = Number(process.env['RUNS'] ?? 5)

const program = theProgram()

test('eight that open worktrees at once all get theirs', async () => {
  const all = openShopBench()
  const { repo, bench, git, head } = all
  for (let n = 0; n < 20; n++) put(repo, `many/${n}.txt`, `${n}\n`)
  all.commit(repo, 'b.txt', 'b')
  const benches = Array.from({ length: 8 }, (_, n) => bench(`${n}`))
  const answers = await Promise.all(benches.map(one => byHand(all, program(), ['open', repo, one, 'main'])))
  expect(answers).toEqual(benches.map(() => 'done'))
  expect(benches.map(one => git(one.path, 'status', '--porcelain') + head(one.path))).toEqual(
    benches.map(() => head(repo)),
  )
})

test('a lock of somebody else is waited for; one that was left behind goes', async () => {
  const { repo, bench, shop } = openShopBench()
  const lock = path.join(repo, '.git/refs/heads/oneshot/demo/one.lock')
  put(repo, '.git/refs/heads/oneshot/demo/one.lock')
  setTimeout(() => fs.rmSync(lock), 500)
  await shop.open(repo, bench('one'), 'main')
  put(bench('one').path, 'x.txt', 'x')
  const left = path.join(repo, '.git/worktrees/one/index.lock')
  fs.writeFileSync(left, '')
  fs.utimesSync(left, 0, 0)
  await shop.seal(bench('one'), 'x', [], 'main')
})

/** A lock that a git left an hour ago. */
function leave(repo: string, name: string): string {
  const lock = path.join(repo, '.git', name)
  put(repo, `.git/${name}`)
  fs.utimesSync(lock, Date.now() / 1000 - 3_600, Date.now() / 1000 - 3_600)
  return lock
}

test('a loop removes packed-refs.lock that a killed git has left, and none that a living git may hold', async () => {
  const { repo, bench, shop, env } = openShopBench()
  await shop.open(repo, bench('one'), 'main')
  const holder = spawn('git', ['cat-file', '--batch'], { cwd: repo, env, stdio: ['pipe', 'ignore', 'ignore'] })
  const ended = once(holder, 'exit')
  await once(holder, 'spawn')
  const lock = leave(repo, 'packed-refs.lock')
  onTestFinished(() => void holder.kill('SIGKILL'))
  const hasty = gitWorkshop({ env, limit: 3_000 })
  await expect(hasty.clear(repo, bench('one'), 'main')).rejects.toThrow()
  expect(fs.existsSync(lock), 'a git that is older than the lock lives').toBe(true)
  holder.stdin.end()
  await ended
  const begun = Date.now()
  expect(await shop.clear(repo, bench('one'), 'main')).toEqual({ kind: 'gone' })
  expect(Date.now() - begun).toBeLessThan(15_000)
  expect(fs.existsSync(lock)).toBe(false)
})

test('a landing names the index.lock that keeps it from your files, and the command that removes it', async () => {
  const { repo, git, shop, commit } = openShopBench()
  git(repo, 'checkout', '--quiet', '-b', 'work')
  commit(repo, 'new.txt', 'new')
  git(repo, 'checkout', '--quiet', 'main')
  const lock = leave(repo, 'index.lock')
  const begun = Date.now()
  const landing = shop.land(repo, 'work', 'land')
  await expect(landing).rejects.toMatchObject({ mayHelpToRetry: false })
  await expect(landing).rejects.toThrow(`${lock} has been there for 1 h`)
  await expect(landing).rejects.toThrow(`rm -- ${lock}`)
  expect(Date.now() - begun).toBeLessThan(15_000)
  expect(fs.existsSync(lock), 'a person decides about their own checkout').toBe(true)
  fs.rmSync(lock)
  await shop.land(repo, 'work', 'land')
})

test('whoever is killed, and whenever: nothing that was made is lost, and nothing of the user’s is touched', async () => {
  const first = new Story(program())
  await first.all.shop.open(first.all.repo, first.into, 'main')
  const usual = await first.rehearse()
  await fc.assert(
    fc.asyncProperty(anyDeeds, async deeds => {
      const story = new Story(program(), usual)
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
      all.expectSound(all.repo)
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
}, 600_000)

/** After all of it, everything can be done as if nothing had happened. */
async function expectToGoOn({ shop, repo, bench, commit, git }: ShopBench, into: Bench): Promise<void> {
  const last = bench('last')
  await shop.open(repo, last, 'main')
  commit(last.path, 'last.txt', 'last')
  for (const name of ['one', 'two', 'three']) await shop.open(repo, bench(name), into.branch)
  await shop.rewind(into, 'main')
  expect(await shop.merge(into, last.branch, 'last')).toMatchObject({ kind: 'merged' })
  expect(git(into.path, 'status', '--porcelain')).toBe('')
  expect(await shop.clear(repo, last, into.branch)).toEqual({ kind: 'gone' })
}
