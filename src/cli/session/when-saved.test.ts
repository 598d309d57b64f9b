import { expect, test } from 'vitest'
import { anEnded } from './fixture.ts'
import { savedLines } from './when-saved.ts'

const saved = (leftOut: readonly string[]) => ({ number: 2, at: '2026-11-15T11:00:00.000Z', trigger: 'stop', leftOut })

test('all is saved only when nothing was left out', () => {
  const stopped = { outcome: 'stopped', checkpoint: saved([]) } as const
  expect(savedLines(anEnded(stopped))).toEqual([
    'all is saved in checkpoint 2: oneshot diff demo-fix-auth, oneshot resume demo-fix-auth',
  ])
  const partly = anEnded({ ...stopped, checkpoint: saved(['big.bin has 57 MB, more than 50 MB']) })
  expect(savedLines(partly)).toEqual([
    'saved in checkpoint 2: oneshot diff demo-fix-auth, oneshot resume demo-fix-auth',
    'left out: big.bin has 57 MB, more than 50 MB',
  ])
})

test('a command is not to be resumed', () => {
  const stopped = anEnded({ agent: 'command', outcome: 'stopped', checkpoint: saved([]) })
  expect(savedLines(stopped)).toEqual(['all is saved in checkpoint 2: oneshot diff demo-fix-auth'])
})
