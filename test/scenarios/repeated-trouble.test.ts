import { expect, test } from 'vitest'
import type { RepeatedTrouble } from '../../src/core/describe/repeated-action-failures.ts'
import { testSessionId } from '../../testkit/core/ids.ts'
import { type CallInterceptor, Simulation, makeSpec } from '../../testkit/in-memory/simulation.ts'

/** Lets each sweep fail while `isFailing` returns true. */
function failingSweeps(isFailing: () => boolean): CallInterceptor {
  return {
    wrap: port =>
      new Proxy(port, {
        get: (target, key) => {
          if (key === 'sweep' && isFailing()) return () => Promise.reject(new Error('permission denied'))
          const value: unknown = Reflect.get(target, key)
          return typeof value === 'function' ? value.bind(target) : value
        },
      }),
  }
}

function recordedTrouble(simulation: Simulation): RepeatedTrouble | null {
  return JSON.parse(simulation.disk.troubles.get('s1') ?? 'null') as RepeatedTrouble | null
}

test('a sweep that keeps failing is counted without events, also by the next supervisor, until it succeeds', async () => {
  let isFailing = true
  const simulation = new Simulation({ talker: { run: () => [{ wait: 100 }, { say: 'done: it\n' }] } })
  const { engine } = simulation.supervisor(failingSweeps(() => isFailing))
  await engine.start()
  await engine.create(makeSpec({ agent: 'talker' }), { prompt: Buffer.from('do it'), env: {} })
  await simulation.until(() => simulation.troubles.length === 1)
  const since = simulation.clock.now()
  expect(recordedTrouble(simulation)).toBeNull()

  const events = simulation.events('s1')
  await engine.observe(testSessionId('s1'))
  const trouble = { doing: 'ending the processes of attempt 1', since, reason: 'permission denied' }
  expect(recordedTrouble(simulation)).toEqual({ ...trouble, count: 2 })
  expect(simulation.events('s1')).toEqual(events)

  await engine.shutDown()
  expect(recordedTrouble(simulation), 'a shutdown is no success').toEqual({ ...trouble, count: 2 })
  const next = simulation.supervisor(failingSweeps(() => isFailing)).engine
  await next.start()
  expect(recordedTrouble(simulation)).toEqual({ ...trouble, count: 3 })

  isFailing = false
  await next.observe(testSessionId('s1'))
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(recordedTrouble(simulation)).toBeNull()
  expect(simulation.session('s1')?.phase).toMatchObject({ outcome: 'done' })
})

test('a launch that fails with an unexpected error is named by its attempt', async () => {
  const simulation = new Simulation({ talker: { run: () => [{ say: 'done: it\n' }] } })
  let failures = 0
  const { engine } = simulation.supervisor({
    wrap: port =>
      new Proxy(port, {
        get: (target, key) => {
          if (key === 'launch' && failures++ < 2) return () => Promise.reject(new Error('EISDIR'))
          const value: unknown = Reflect.get(target, key)
          return typeof value === 'function' ? value.bind(target) : value
        },
      }),
  })
  await engine.start()
  await engine.create(makeSpec({ agent: 'talker' }), { prompt: Buffer.from('do it'), env: {} })
  await simulation.until(() => simulation.troubles.length === 1)
  await engine.observe(testSessionId('s1'))
  expect(recordedTrouble(simulation)).toMatchObject({ doing: 'starting attempt 1', count: 2, reason: 'EISDIR' })
  await engine.observe(testSessionId('s1'))
  expect(recordedTrouble(simulation)).toBeNull()
  await simulation.until(() => simulation.hasEnded('s1'))
})
