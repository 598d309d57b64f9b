import path from 'node:path'
import { expect, test } from 'vitest'
import { gitWorkshop } from '../../src/world/git/workshop/git-workshop.ts'
import { openGitBench, put } from './git-bench.ts'
import { killAtEachChange, type Scene, theProgram } from './shop-deaths.ts'
import { openShopBench } from './workshop-bench.ts'

const program = theProgram()
const FILES = 20

/** A branch that changes files, adds some and removes one, and a user who has changes and a file of their own. */
function landing(isForward: boolean): Scene {
  const all = openShopBench()
  const { repo, shop, git, commit, head } = all
  for (let n = 0; n < FILES; n++) put(repo, `many/${n}.txt`, `${n}\n`)
  commit(repo, 'gone.txt', 'gone')
  git(repo, 'checkout', '--quiet', '-b', 'work')
  git(repo, 'rm', '--quiet', 'gone.txt')
  for (let n = 0; n < FILES * 2; n++) put(repo, `many/${n}.txt`, `other ${n}\n`)
  commit(repo, 'new.txt', 'new')
  git(repo, 'checkout', '--quiet', 'main')
  if (!isForward) commit(repo, 'other.txt', 'other')
  const before = head(repo)
  put(repo, 'mine.txt', 'untracked')
  put(repo, 'PRD.md', 'changed')
  const again = async (): Promise<void> => {
    expect(await shop.land(repo, 'work', 'land')).toMatchObject({ commit: head(repo, 'main') })
    git(repo, 'merge-base', '--is-ancestor', before, 'main')
    git(repo, 'merge-base', '--is-ancestor', 'work', 'main')
    expect(git(repo, 'status', '--porcelain')).toBe(' M PRD.md\n?? mine.txt\n')
    expect(git(repo, 'diff', '--stat', 'work', '--', 'many')).toBe('')
    commit(repo, 'after.txt', 'the user can go on')
  }
  return { bench: all, deed: ['land', repo, 'work', 'land'], again }
}

test.each([true, false])(
  'killed at any change while it lands, forward %s: the next one finishes it, and the user’s own files stay',
  isForward => killAtEachChange(`land ${isForward}`, program(), async () => landing(isForward)),
  300_000,
)

test(
  'killed at any change while it makes a repository: the next one has all of it',
  () =>
    killAtEachChange('found', program(), async () => {
      const bench = openGitBench()
      const folder = path.join(bench.root, 'idea')
      put(folder, 'a.txt', 'a')
      const again = async (): Promise<void> => {
        const shop = gitWorkshop({ env: bench.env })
        await shop.found(folder)
        expect(await shop.survey(folder)).toMatchObject({ top: folder, isClean: true })
        expect(bench.git(folder, 'ls-tree', '--name-only', 'HEAD')).toBe('a.txt\n')
      }
      return { bench, deed: ['found', folder], again }
    }),
  300_000,
)
