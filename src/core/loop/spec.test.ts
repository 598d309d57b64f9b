import { expect, test } from 'vitest'
import { makeLoopSpec } from '../../../testkit/core/loop-fixtures.ts'
import { parseLoopPlace, parseLoopSpec } from './spec.ts'

test('parseLoopSpec groups the supervision of a worker that version 0.1.0 wrote, and changes no present request', () => {
  const spec = makeLoopSpec()
  const { supervision: _, ...worker } = spec.worker
  const limits = { usd: null, tokens: null, turns: 5 }
  const care = { patience: { silence: 300_000 }, memory: 7_000 }
  const written = { ...spec, worker: { ...worker, maxTime: 60_000, limits, care } }
  expect(parseLoopSpec(['ralph', JSON.stringify(written)])).toEqual({
    ...spec,
    worker: { ...worker, supervision: { maxTime: 60_000, limits, projectFiles: false, ...care } },
  })
  expect(parseLoopSpec([JSON.stringify(spec)])).toEqual(spec)
})

test.each(['', '{', 'null', '{}', '{"worker":{"agent":7}}'])(
  'parseLoopSpec refuses the argument %j, and parseLoopPlace finds neither list nor parallelism in it',
  text => {
    expect(() => parseLoopSpec([text])).toThrow('is not the request of a loop')
    expect(parseLoopPlace([text])).toEqual({ list: null, parallel: null })
  },
)
