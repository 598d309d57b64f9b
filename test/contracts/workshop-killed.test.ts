import fs from 'node:fs'
import path from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Bench } from '../../src/ports/workshop.ts'
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
