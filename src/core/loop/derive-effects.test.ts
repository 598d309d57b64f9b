import { expect, test } from 'vitest'
import { type LoopEffect, effectsToStart } from './derive-effects.ts'

const effect = (key: string): LoopEffect => ({ key, type: key.split(' ')[0] }) as unknown as LoopEffect

test('no merge starts while a cancelled one is still under way', () => {
  const wanted = [effect('merge 1 1'), effect('remove-worktree 3'), effect('run-worker 4')]
  expect(effectsToStart(wanted, new Set(['merge 2 1', 'run-worker 4'])).map(({ key }) => key)).toEqual([
    'remove-worktree 3',
  ])
  expect(effectsToStart(wanted, new Set(['run-worker 4'])).map(({ key }) => key)).toEqual([
    'merge 1 1',
    'remove-worktree 3',
  ])
})
