import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Workshop } from '../../src/ports/workshop.ts'
import { bundled } from '../../src/testkit/real/companion.ts'
import { put } from './git-bench.ts'
import { byHand, type Death } from './shop-hands.ts'
import { openShopBench } from './workshop-bench.ts'

let program: string
beforeAll(async () => {
  program = await bundled(path.join(path.dirname(fileURLToPath(import.meta.url)), 'shop-hand.ts'))
})
afterAll(() => fs.rmSync(program))

/** The calls of git that change something. */
const MOMENTS: readonly [deed: string, word: string][] = [
  ['open', 'add'],
  ['merge', '--no-ff'],
  ['clear', 'remove'],
  ['clear', '-d'],
  ['seal', 'update-ref'],
  ['seal', 'reset'],
  ['rewind', 'reset'],
]
const HOW: readonly Death['how'][] = ['before', 'meanwhile', 'after', 'torn']

test.each(MOMENTS)(
  'killed in the midst of %s, at %s: done again, it ends as if nothing had been',
  async (name, word) => {
    for (const how of HOW) await live(name, { at: word, how })
  },
  120_000,
)

async function live(name: string, death: Death): Promise<void> {
  const all = openShopBench()
  const { repo, shop, bench, commit, git, head } = all
  const [into, one] = [bench('all'), bench('one')]
  const before = all.userState()
  const does = async (...deed: [keyof Workshop, ...unknown[]]): Promise<unknown> => {
    if (deed[0] === name) expect(await byHand(all, program, deed, death), 'it is killed').toBeNull()
    return (shop[deed[0]] as (...words: unknown[]) => Promise<unknown>).apply(shop, deed.slice(1))
  }
  await shop.open(repo, into, 'main')
  await does('open', repo, one, 'main')
  for (let n = 0; n < 40; n++) put(one.path, `many/${n}.txt`, `${n}\n`)
  commit(one.path, 'a.txt', 'one\n')
  put(one.path, 'left.txt', 'left\n')
  await does('seal', one, 'work', ['PRD.md'], 'main')
  expect(await does('merge', into, one.branch, 'merge one')).toMatchObject({ kind: 'merged' })
  expect(git(into.path, 'status', '--porcelain')).toBe('')
  expect(await does('clear', repo, one, into.branch)).toEqual({ kind: 'gone' })
  await does('rewind', into, 'main')
  expect(head(into.path)).toBe(head(repo))
  expect(git(repo, 'branch', '--list', one.branch) + git(into.path, 'status', '--porcelain')).toBe('')
  const kept = git(repo, 'for-each-ref', '--format=%(objectname)', 'refs/oneshot-loop/kept').trim()
  expect(git(repo, 'log', '--format=%s', '--no-merges', kept, '^main')).toMatch(
    /^(oneshot: .*\n)*work\na\.txt in one\n$/,
  )
  expect(git(repo, 'worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(2)
  expect(all.userState()).toEqual(before)
}
