import { expect, test } from 'vitest'
import type { LoopSignal } from '../../core/loop/signals.ts'
import type { EffectRun } from '../context.ts'
import { prepareWorktree } from './prepare-worktree.ts'

/** Prepares the worktree of a task whose branch is at `commit`, in a loop whose tip is `tip`. */
async function prepare(commit: string | null, checkout: unknown = null): Promise<LoopSignal[]> {
  const reported: LoopSignal[] = []
  const worktree = { path: '/w/1', branch: 'b-1' }
  const run = {
    loop: () => ({ tip: 'tip' }),
    report: (signal: LoopSignal) => reported.push(signal),
    context: {
      spec: { parallel: 2, setup: null },
      session: { cwd: '/project' },
      refWatch: { start: async () => undefined },
      checkoutWatch: { start: async () => undefined },
      worktrees: { repair: async () => null, open: async () => undefined, head: async () => ({ commit }) },
      paths: { integration: worktree, taskWorktree: () => worktree, folderIn: () => '/w/1' },
    },
  } as unknown as EffectRun
  const effect = { type: 'prepare', role: 'task', task: { item: { key: 'one' }, checkout, number: 1 } } as never
  await prepareWorktree(effect, run)
  return reported
}

test('the work of a task begins at the commit of its worktree, which a killed loop may have opened at an earlier tip', async () => {
  const since = (head: string) => ({ since: { head, tree: `${head}^{tree}` } })
  expect(await prepare('earlier')).toMatchObject([{ type: 'checkout.ready', checkout: since('earlier') }])
  expect(await prepare(null)).toMatchObject([{ checkout: since('tip') }])
  expect(await prepare('worked', since('begun'))).toMatchObject([{ checkout: since('begun') }])
})
