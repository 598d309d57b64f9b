import { testSessionId } from '../../testkit/core/ids.ts'
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { createLoop, type Loop, type LoopTask } from '../../src/core/loop/loop-state.ts'
import type { LoopSpec } from '../../src/core/loop/spec.ts'
import { newTask } from '../../src/core/loop/loop-updates.ts'
import { Audit } from '../../src/loop/audit/detect-lost-work.ts'
import { CheckoutWatch } from '../../src/loop/audit/user-checkout-watch.ts'
import { put } from './git-fixture.ts'
import { openWorktreesFixture } from './worktrees-fixture.ts'

const TASK = newTask({ key: 'two', label: '2', title: 'two', isDone: false } as LoopTask['item'], 2)

/** A watched checkout with two uncommitted files of the user. */
async function openWatch() {
  const fixture = openWorktreesFixture()
  const { repo, shop: worktrees, head } = fixture
  for (const name of ['mine.txt', 'other.txt']) put(repo, name, `${name}\n`)
  const now = await worktrees.snapshot(repo)
  const since = { head: head(repo), tree: `${head(repo)}^{tree}` }
  const loop: Loop = { ...createLoop({} as LoopSpec, 0), branch: 'oneshot/demo', userChanges: { since, now } }
  const audit = new Audit({ worktrees, cwd: repo, id: testSessionId('loop'), inner: '', apart: ['PRD.md'] })
  const watch = new CheckoutWatch({ worktrees, audit, cwd: repo, top: repo })
  await watch.start(loop)
  return { ...fixture, inspect: () => watch.inspect(loop, TASK, null) }
}

test('the watch reports a file as gone only if it is not on disk', async () => {
  const { repo, git, commit, inspect } = await openWatch()
  git(repo, 'rm', '--quiet', '--cached', 'a.txt')
  put(repo, 'a.txt', 'junk\n')
  expect(await inspect()).toMatchObject({ notes: [], losses: [] })
  fs.rmSync(path.join(repo, 'a.txt'))
  expect((await inspect()).notes).toEqual([expect.stringMatching(/^a\.txt is gone from your checkout/)])
  commit(repo, 'folder/b.txt', 'b\n')
  await inspect()
  fs.renameSync(path.join(repo, 'folder'), path.join(repo, '.agent'))
  fs.symlinkSync('.agent', path.join(repo, 'folder'))
  expect((await inspect()).notes, 'behind a link').toEqual([
    expect.stringMatching(/^folder\/b\.txt is gone from your checkout/),
  ])
})

test('the watch reports the loss of an uncommitted file once, and not again for the next agent', async () => {
  const { repo, inspect } = await openWatch()
  fs.rmSync(path.join(repo, 'mine.txt'))
  expect((await inspect()).losses).toMatchObject([{ what: 'mine.txt is gone, or has its old content' }])
  fs.appendFileSync(path.join(repo, 'other.txt'), 'more\n')
  expect((await inspect()).losses).toEqual([])
  fs.rmSync(path.join(repo, 'other.txt'))
  expect((await inspect()).losses).toMatchObject([{ what: 'other.txt is gone, or has its old content' }])
})
