import { expect, test } from 'vitest'
import { makeEndedSessionView } from '../../../testkit/views/session-view.ts'
import { describeCheckpoint } from './wait.ts'

const saved = (leftOut: readonly string[]) => ({ number: 2, at: '2026-11-15T11:00:00.000Z', trigger: 'stop', leftOut })

test('the notice says "all is saved" only when the checkpoint left nothing out', () => {
  const stopped = { outcome: 'stopped', checkpoint: saved([]) } as const
  expect(describeCheckpoint(makeEndedSessionView(stopped))).toEqual([
    'all is saved in checkpoint 2: oneshot diff demo-fix-auth, oneshot resume demo-fix-auth',
  ])
  const partly = makeEndedSessionView({ ...stopped, checkpoint: saved(['big.bin has 57 MB, more than 50 MB']) })
  expect(describeCheckpoint(partly)).toEqual([
    'saved in checkpoint 2: oneshot diff demo-fix-auth, oneshot resume demo-fix-auth',
    'left out: big.bin has 57 MB, more than 50 MB',
  ])
})

test('the notice for a command does not suggest a resume', () => {
  const stopped = makeEndedSessionView({ agent: 'command', outcome: 'stopped', checkpoint: saved([]) })
  expect(describeCheckpoint(stopped)).toEqual(['all is saved in checkpoint 2: oneshot diff demo-fix-auth'])
})
