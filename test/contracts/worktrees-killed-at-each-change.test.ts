import fs from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import type { Worktrees } from '../../src/ports/worktrees.ts'
import { forCases } from '../../testkit/vitest/for-cases.ts'
import { put } from './git-fixture.ts'
import { killAtEachChange, bundleWorktreesProgram } from './kill-at-each-change.ts'
import { openWorktreesFixture, type WorktreesFixture } from './worktrees-fixture.ts'

const program = bundleWorktreesProgram()
const FILES = 8

/** The start, the call under test, and the expectations after its second call. */
interface Moment {
  readonly begin: (all: WorktreesFixture) => Promise<unknown>
  readonly deed: (all: WorktreesFixture) => [keyof Worktrees, ...unknown[]]
  readonly end: (all: WorktreesFixture, answer: unknown) => void
}

const into = ({ bench }: WorktreesFixture) => bench('all')
const one = ({ bench }: WorktreesFixture) => bench('one')
const read = (folder: string, name: string): string => fs.readFileSync(path.join(folder, name), 'utf8')

/** Somebody has worked, and has not committed all of it. */
async function withWork(all: WorktreesFixture): Promise<void> {
  const { shop: worktrees, repo, commit } = all
  await worktrees.open(repo, one(all), 'main')
  for (let n = 0; n < FILES; n++) put(one(all).path, `many/${n}.txt`, `${n}\n`)
  commit(one(all).path, 'a.txt', 'one\n')
  put(one(all).path, 'left.txt', 'left\n')
  put(one(all).path, 'PRD.md', 'ticked')
}

/** Two have worked; what one has done may be merged. */
async function withBoth(all: WorktreesFixture): Promise<void> {
  await withWork(all)
  await all.shop.open(all.repo, into(all), 'main')
  put(into(all).path, 'built.txt', 'by a check')
  fs.appendFileSync(path.join(into(all).path, '.gitignore'), 'more\n')
}

async function withConflict(all: WorktreesFixture): Promise<void> {
  await withBoth(all)
  all.git(into(all).path, 'checkout', '--quiet', '.gitignore')
  fs.rmSync(path.join(into(all).path, 'built.txt'))
  all.commit(into(all).path, 'a.txt', 'other\n')
  put(into(all).path, 'built.txt', 'by a check')
  fs.appendFileSync(path.join(into(all).path, '.gitignore'), 'more\n')
}

const expectOwnChanges = (all: WorktreesFixture): void =>
  expect(all.git(into(all).path, 'status', '--porcelain')).toBe(' M .gitignore\n?? built.txt\n')

const MOMENTS: Readonly<Record<string, Moment>> = {
  open: {
    begin: async () => undefined,
    deed: all => ['open', all.repo, one(all), 'main'],
    end: all => {
      expect(all.git(one(all).path, 'status', '--porcelain', '--branch')).toBe(`## ${one(all).branch}\n`)
      expect(all.git(all.repo, 'worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(2)
    },
  },
  commitAll: {
    begin: withWork,
    deed: all => ['commitAll', one(all), 'work', ['PRD.md'], 'main'],
    end: (all, answer) => {
      expect(all.head(one(all).path)).toBe(answer)
      expect(all.git(one(all).path, 'log', '--format=%s', 'main..')).toBe('work\na.txt in one\n')
      expect(all.git(one(all).path, 'status', '--porcelain')).toBe('')
      expect(read(one(all).path, 'PRD.md')).toBe('- [ ] one\n- [ ] two\n')
    },
  },
  commitPaths: {
    begin: withWork,
    deed: all => ['commitPaths', one(all), ['PRD.md'], 'tick'],
    end: all => {
      expect(all.git(one(all).path, 'log', '--format=%s', 'main..')).toBe('tick\na.txt in one\n')
      expect(all.git(one(all).path, 'status', '--porcelain')).toBe('?? left.txt\n')
    },
  },
  merge: {
    begin: withBoth,
    deed: all => ['merge', into(all), one(all).branch, 'merge one'],
    end: (all, answer) => {
      expect(answer).toEqual({ kind: 'merged', commit: all.head(into(all).path) })
      expect(all.git(into(all).path, 'log', '--first-parent', '--format=%s', 'main..')).toBe('merge one\n')
      expectOwnChanges(all)
    },
  },
  'merge with a conflict': {
    begin: withConflict,
    deed: all => ['merge', into(all), one(all).branch, 'merge one'],
    end: (all, answer) => {
      expect(answer).toEqual({ kind: 'conflict', files: ['a.txt'] })
      expectOwnChanges(all)
    },
  },
  startMerge: {
    begin: withConflict,
    deed: all => ['startMerge', into(all), one(all).branch],
    end: (all, answer) => {
      expect(answer).toEqual(['a.txt'])
      expect(read(into(all).path, 'a.txt')).toMatch(/^<{7} [^]*^>{7} /m)
      expect(read(into(all).path, 'built.txt')).toBe('by a check')
    },
  },
  remove: {
    begin: async all => {
      await withBoth(all)
      await all.shop.commitAll(one(all), 'work', ['PRD.md'], 'main')
      await all.shop.merge(into(all), one(all).branch, 'merge one')
    },
    deed: all => ['remove', all.repo, one(all), into(all).branch],
    end: (all, answer) => {
      expect(answer).toEqual({ kind: 'gone' })
      expect(all.git(all.repo, 'branch', '--list', one(all).branch)).toBe('')
      expect(all.git(all.repo, 'worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(2)
      expect(fs.readdirSync(path.dirname(one(all).path))).toEqual(['all'])
    },
  },
  reset: {
    begin: withWork,
    deed: all => ['reset', one(all), 'main'],
    end: all => {
      expect(all.git(one(all).path, 'status', '--porcelain', '--branch')).toBe(`## ${one(all).branch}\n`)
      expect(all.head(one(all).path)).toBe(all.head(all.repo))
      const kept = all.git(all.repo, 'for-each-ref', '--format=%(objectname)', 'refs/oneshot-loop/kept').trim()
      expect(all.git(all.repo, 'log', '--format=%s', kept, '^main').split('\n')).toContain('a.txt in one')
      expect(all.git(all.repo, 'log', '--all', '--format=', '--name-only', '--diff-filter=A')).toContain('left.txt\n')
    },
  },
}

forCases(
  Object.entries(MOMENTS),
  3,
  'the second call of %s, after a kill at any change of the first one, ends as if there had been no kill',
  ([name, { begin, deed, end }]) =>
    killAtEachChange(name, program(), async () => {
      const all = openWorktreesFixture()
      await begin(all)
      const before = all.userState()
      const [what, ...words] = deed(all)
      const again = async (): Promise<void> => {
        end(all, await (all.shop[what] as (...given: unknown[]) => Promise<unknown>).apply(all.shop, words))
        expect(all.userState()).toEqual(before)
      }
      return { bench: all, deed: [what, ...words], again }
    }),
)
