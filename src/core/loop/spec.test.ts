import { expect, test } from 'vitest'
import { makeLoopSpec } from '../../../testkit/core/loop-fixtures.ts'
import { upgradeLoopSpec } from './spec.ts'

test('upgradeLoopSpec groups the supervision of a worker that version 0.1.0 wrote, and changes no present request', () => {
  const spec = makeLoopSpec()
  const { supervision: _, ...worker } = spec.worker
  const limits = { usd: null, tokens: null, turns: 5 }
  const care = { patience: { silence: 300_000 }, memory: 7_000 }
  const written = { ...spec, worker: { ...worker, maxTime: 60_000, limits, care } }
  expect(upgradeLoopSpec(written)).toEqual({
    ...spec,
    worker: { ...worker, supervision: { maxTime: 60_000, limits, projectFiles: false, ...care } },
  })
  expect(upgradeLoopSpec(spec)).toEqual(spec)
})
