import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { gitWorkshop } from '../../src/world/git/workshop/git-workshop.ts'
import { bundled } from '../../src/testkit/real/companion.ts'
import { openGitBench, put } from './git-bench.ts'
import { byHand, type Death } from './shop-hands.ts'
import { openShopBench } from './workshop-bench.ts'

const KILLS = Number(process.env['KILLS'] ?? 2)

let program: string
beforeAll(async () => {
  program = await bundled(path.join(path.dirname(fileURLToPath(import.meta.url)), 'shop-hand.ts'))
})
afterAll(() => fs.rmSync(program))

const HOW: readonly Death['how'][] = ['before', 'meanwhile', 'after', 'torn']
/** Any call of git, and the one that matters most. */
const deathsOf = (how: Death['how'], calls: number, word: string): Death[] => [
  ...Array.from({ length: KILLS }, (): Death => ({ at: 1 + Math.floor(Math.random() * calls), how })),
  ...Array.from({ length: how === 'torn' ? KILLS : 1 }, (): Death => ({ at: word, how })),
]

test.each(HOW)(
  'killed while it lands, %s: the next one finishes it, and the user’s own files stay',
  async how => {
    for (const [round, death] of deathsOf(how, 20, '--ff-only').entries()) {
      const all = openShopBench()
      const { repo, shop, git, commit, head } = all
      for (let n = 0; n < 60; n++) put(repo, `many/${n}.txt`, `${n}\n`)
      commit(repo, 'gone.txt', 'gone')
      git(repo, 'checkout', '--quiet', '-b', 'work')
      git(repo, 'rm', '--quiet', 'gone.txt')
      for (let n = 0; n < 120; n++) put(repo, `many/${n}.txt`, `other ${n}\n`)
      commit(repo, 'new.txt', 'new')
      git(repo, 'checkout', '--quiet', 'main')
      if (round % 2 === 0) commit(repo, 'other.txt', 'other')
      const before = head(repo)
      put(repo, 'mine.txt', 'untracked')
      put(repo, 'PRD.md', 'changed')
      await byHand(all, program, ['land', repo, 'work', 'land'], death)
      const landed = await shop.land(repo, 'work', 'land')
      expect(landed.commit, JSON.stringify(death)).toBe(head(repo, 'main'))
      expect(
        git(repo, 'merge-base', '--is-ancestor', before, 'main') +
          git(repo, 'merge-base', '--is-ancestor', 'work', 'main'),
      ).toBe('')
      expect(git(repo, 'status', '--porcelain'), JSON.stringify(death)).toBe(' M PRD.md\n?? mine.txt\n')
      expect(git(repo, 'diff', '--stat', 'work', '--', 'many'), JSON.stringify(death)).toBe('')
    }
  },
  300_000,
)

test.each(HOW)(
  'killed while it makes a repository, %s: the next one has all of it',
  async how => {
    for (const death of deathsOf(how, 12, 'update-ref')) {
      const bench = openGitBench()
      const folder = path.join(bench.root, 'idea')
      put(folder, 'a.txt', 'a')
      await byHand(bench, program, ['found', folder], death)
      const shop = gitWorkshop({ env: bench.env })
      await shop.found(folder)
      expect(await shop.survey(folder), JSON.stringify(death)).toMatchObject({ top: folder, isClean: true })
      expect(bench.git(folder, 'ls-tree', '--name-only', 'HEAD')).toBe('a.txt\n')
    }
  },
  300_000,
)
