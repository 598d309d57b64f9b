import fs from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Worktree, Worktrees } from '../../src/ports/worktrees.ts'
import { InMemoryGit } from '../../testkit/in-memory/git.ts'
import { InMemoryWorktrees } from '../../testkit/in-memory/worktrees.ts'
import { put } from './git-fixture.ts'
import { openWorktreesFixture } from './worktrees-fixture.ts'

/** A repository with the files PRD.md and a.txt, and the actions of an agent in its working trees. */
interface Project {
  readonly top: string
  readonly worktrees: Worktrees
  readonly write: (folder: string, file: string, text: string) => void
  readonly commit: (folder: string) => void
  readonly read: (folder: string, file: string) => string | null
}

function openReal(): Project {
  const { repo, shop, git } = openWorktreesFixture()
  return {
    top: repo,
    worktrees: shop,
    write: put,
    commit: folder => {
      git(folder, 'add', '--all')
      git(folder, 'commit', '--quiet', '--message', 'work')
    },
    read: (folder, file) =>
      fs.existsSync(path.join(folder, file)) ? fs.readFileSync(path.join(folder, file), 'utf8') : null,
  }
}

function openInMemory(): Project {
  const top = '/project'
  const git = InMemoryGit.withFiles(top, { 'PRD.md': '- [ ] one\n- [ ] two\n', 'a.txt': 'a\n' })
  return {
    top,
    worktrees: new InMemoryWorktrees(git),
    write: (folder, file, text) => void git.checkout(folder).files.set(file, text),
    commit: folder => void git.commit(folder, 'work'),
    read: (folder, file) => git.checkouts.get(folder)?.files.get(file) ?? null,
  }
}

describe.each([
  ['in memory', openInMemory],
  ['of git', openReal],
])('worktrees %s', (_, open) => {
  let project: Project
  let one: Worktree
  let all: Worktree
  let head: string
  beforeEach(async () => {
    project = open()
    one = { path: path.join(project.top, '.agent/worktrees/demo/1'), branch: 'oneshot/demo-1' }
    all = { path: path.join(project.top, '.agent/worktrees/demo/all'), branch: 'oneshot/demo' }
    head = (await project.worktrees.head(project.top)).commit ?? ''
  })

  it('show committed and uncommitted work as evidence, without excluded paths', async () => {
    const { top, worktrees, write, commit } = project
    const since = await worktrees.snapshot(top)
    write(top, 'b.txt', 'b\n')
    commit(top)
    write(top, 'c.txt', 'c\n')
    write(top, 'PRD.md', '- [x] one\n')
    const { changed, commitCount, uncommitted, underWay } = await worktrees.collectEvidence(top, since, ['PRD.md'])
    const files = changed.map(({ path, isCommitted }) => [path, isCommitted])
    expect({ files, commitCount, uncommitted, underWay }).toEqual({
      files: [
        ['b.txt', true],
        ['c.txt', false],
      ],
      commitCount: 1,
      uncommitted: 1,
      underWay: null,
    })
  })

  it('open once, commit verified work without excluded paths, merge it, and go when it is merged', async () => {
    const { top, worktrees, write, read } = project
    for (let time = 0; time < 2; time++) for (const worktree of [all, one]) await worktrees.open(top, worktree, head)
    write(one.path, 'b.txt', 'b\n')
    write(one.path, 'PRD.md', '- [x] one\n')
    const seen = await worktrees.snapshot(one.path)
    const judged = await worktrees.commitAll(one, 'work', ['PRD.md'], head, seen)
    expect((await worktrees.remove(top, one, all.branch)).kind).toBe('kept')
    const merged = await worktrees.merge(all, judged, 'merge', head)
    expect(merged.kind).toBe('merged')
    expect([read(all.path, 'b.txt'), read(all.path, 'PRD.md')]).toEqual(['b\n', '- [ ] one\n- [ ] two\n'])
    await worktrees.reset(one, `refs/heads/${one.branch}`)
    expect(await worktrees.remove(top, one, all.branch)).toEqual({ kind: 'gone' })
    expect([await worktrees.branchTip(top, one.branch), read(one.path, 'b.txt')]).toEqual([null, null])
  })

  it('report a conflict and a moved branch, and change nothing then', async () => {
    const { top, worktrees, write, read, commit } = project
    for (const worktree of [all, one]) await worktrees.open(top, worktree, head)
    write(all.path, 'a.txt', 'theirs\n')
    commit(all.path)
    const tip = (await worktrees.branchTip(top, all.branch)) ?? ''
    write(one.path, 'a.txt', 'mine\n')
    const judged = await worktrees.commitAll(one, 'work', [], head)
    expect(await worktrees.merge(all, judged, 'merge', head)).toEqual({ kind: 'moved' })
    expect(await worktrees.merge(all, judged, 'merge', tip)).toEqual({ kind: 'conflict', files: ['a.txt'] })
    expect([await worktrees.branchTip(top, all.branch), read(all.path, 'a.txt')]).toEqual([tip, 'theirs\n'])
  })

  it('leave a started merge in the files, and end it with a commit of both sides', async () => {
    const { top, worktrees, write, read, commit } = project
    for (const worktree of [all, one]) await worktrees.open(top, worktree, head)
    write(all.path, 'a.txt', 'theirs\n')
    commit(all.path)
    write(one.path, 'a.txt', 'mine\n')
    commit(one.path)
    expect(await worktrees.startMerge(one, all.branch)).toEqual(['a.txt'])
    expect(worktrees.findConflictMarkers(one.path, ['a.txt', 'PRD.md'])).toEqual(['a.txt'])
    expect(read(one.path, 'a.txt')).toContain('<<<<<<<')
    write(one.path, 'a.txt', 'both\n')
    const resolved = await worktrees.commitAll(one, 'resolved', [], head)
    expect((await worktrees.merge(all, resolved, 'merge')).kind).toBe('merged')
    expect(read(all.path, 'a.txt')).toBe('both\n')
  })

  it('reset a branch with a backup of its work, and repair a removed branch', async () => {
    const { top, worktrees, write, read, commit } = project
    await worktrees.open(top, one, head)
    write(one.path, 'b.txt', 'b\n')
    commit(one.path)
    const tip = (await worktrees.branchTip(top, one.branch)) ?? ''
    await worktrees.reset(one, head)
    expect([await worktrees.branchTip(top, one.branch), read(one.path, 'b.txt')]).toEqual([head, null])
    const [kept] = await worktrees.diffTrees(top, [[head, 'refs/oneshot-loop/kept/oneshot+demo-1']])
    expect(kept?.map(({ path }) => path)).toEqual(['b.txt'])
    expect(await worktrees.findUnreachable(one.path, [tip, head])).toEqual([tip])
    expect(await worktrees.repair(top, one, head)).toBeNull()
  })

  it('land a branch in the user’s checkout, or refuse and change nothing', async () => {
    const { top, worktrees, write, read, commit } = project
    await worktrees.open(top, all, head)
    write(all.path, 'b.txt', 'b\n')
    commit(all.path)
    write(top, 'b.txt', 'in the way\n')
    await expect(worktrees.land(top, all.branch, 'Merge it')).rejects.toThrow(/b\.txt/)
    expect([(await worktrees.head(top)).commit, read(top, 'b.txt')]).toEqual([head, 'in the way\n'])
    write(top, 'b.txt', 'b\n')
  })

  it('name lost files, moved files and the differences of trees', async () => {
    const { top, worktrees, write } = project
    const before = await worktrees.snapshot(top)
    write(top, 'moved.txt', 'a\n')
    write(top, 'a.txt', '')
    const after = await worktrees.snapshot(top)
    const [changes] = await worktrees.diffTrees(top, [[before.tree, after.tree]])
    expect(changes?.map(({ path, before: old }) => [path, old === null])).toEqual([
      ['a.txt', false],
      ['moved.txt', true],
    ])
    expect(await worktrees.deleted(top, head)).toEqual([])
    const entries = await worktrees.listTree(top, before.tree)
    expect(await worktrees.readBlobs(top, [entries.get('a.txt')?.split(' ')[1] ?? ''])).toEqual(
      new Map([[entries.get('a.txt')?.split(' ')[1] ?? '', 'a\n']]),
    )
  })
})
