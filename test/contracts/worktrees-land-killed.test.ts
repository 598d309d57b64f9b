import path from 'node:path'
import { expect, test } from 'vitest'
import { gitWorktrees } from '../../src/world/git/worktrees/git-worktrees.ts'
import { openGitFixture, put } from './git-fixture.ts'
import { killAtEachChange, type KillScenario, bundleWorktreesProgram } from './kill-at-each-change.ts'
import { openWorktreesFixture } from './worktrees-fixture.ts'

const program = bundleWorktreesProgram()
const FILES = 20

/** A branch that changes files, adds some and removes one, and a user who has changes and a file of their own. */
function landing(isForward: boolean): KillScenario {
  const all = openWorktreesFixture()
  const { repo, shop: worktrees, git, commit, head } = all
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
    expect(await worktrees.land(repo, 'work', 'land')).toMatchObject({ commit: head(repo, 'main') })
    git(repo, 'merge-base', '--is-ancestor', before, 'main')
    git(repo, 'merge-base', '--is-ancestor', 'work', 'main')
    expect(git(repo, 'status', '--porcelain')).toBe(' M PRD.md\n?? mine.txt\n')
    expect(git(repo, 'diff', '--stat', 'work', '--', 'many')).toBe('')
    commit(repo, 'after.txt', 'the user can go on')
  }
  return { bench: all, deed: ['land', repo, 'work', 'land'], again }
}

test.each([true, false])(
  'the next landing finishes one that was killed at any change, and keeps the user’s own files (fast-forward: %s)',
  isForward => killAtEachChange(`land ${isForward}`, program(), async () => landing(isForward)),
  300_000,
)

test(
  'the next initRepository finishes one that was killed at any change',
  () =>
    killAtEachChange('found', program(), async () => {
      const fixture = openGitFixture()
      const folder = path.join(fixture.root, 'idea')
      put(folder, 'a.txt', 'a')
      const again = async (): Promise<void> => {
        const worktrees = gitWorktrees({ env: fixture.env })
        await worktrees.initRepository(folder)
        expect(await worktrees.inspect(folder)).toMatchObject({ top: folder, isClean: true })
        expect(fixture.git(folder, 'ls-tree', '--name-only', 'HEAD')).toBe('a.txt\n')
      }
      return { bench: fixture, deed: ['initRepository', folder], again }
    }),
  300_000,
)
