import { expect, test } from 'vitest'
import { testSessionId } from '../../../testkit/core/ids.ts'
import { createSession } from '../../core/session/create.ts'
import { DEFAULT_TIMINGS } from '../../core/session/supervisor-timings.ts'
import { fixedPause } from '../../lib/retry-policy.ts'
import { Superseded } from '../../ports/store.ts'
import { makeSpec } from '../../../testkit/in-memory/simulation.ts'
import { VirtualClock, flushPromises } from '../../../testkit/in-memory/virtual-clock.ts'
import type { EngineContext } from '../context.ts'
import { Reconciler, SessionReconciler } from './reconciler.ts'

const session = createSession(makeSpec({ agent: 'talker' }), { hasPrompt: true }).session

test('a session that is gone after its job wants nothing more', async () => {
  const clock = new VirtualClock(0)
  const store = { load: () => undefined, assertEpoch: () => undefined }
  let runs = 0
  const job = { key: 'a', retry: fixedPause(10), run: async () => void (runs += 1) }
  const reconciler = new SessionReconciler({ clock, store, onTrouble: unexpected } as unknown as EngineContext, () => [
    job,
  ])
  reconciler.onSessionChanged(session)
  await clock.advance(100)
  expect(runs).toBe(1)
})

test('a supervisor that another one has replaced starts no job, and reports that', async () => {
  const clock = new VirtualClock(0)
  const superseded = new Superseded('epoch 2 has begun')
  const store = {
    load: () => session,
    assertEpoch: () => {
      throw superseded
    },
  }
  const troubles: unknown[] = []
  const context = {
    clock,
    store,
    timings: DEFAULT_TIMINGS,
    onTrouble: (_: string, cause: unknown) => troubles.push(cause),
  }
  const reconciler = new SessionReconciler(context, () => [
    { key: 'a', retry: fixedPause(1_000), run: async () => unexpected() },
  ])
  reconciler.onSessionChanged(session)
  await flushPromises()
  expect(troubles).toEqual([superseded])
  await reconciler.stop()
})

test('records that cannot be read are read again later, and running jobs continue meanwhile', async () => {
  const clock = new VirtualClock(0)
  const troubles: unknown[] = []
  const broken = new Error('disk I/O error')
  let isBroken = false
  const starts: number[] = []
  const context = {
    clock,
    timings: DEFAULT_TIMINGS,
    store: { assertEpoch: () => undefined },
    onTrouble: (_: string, cause: unknown) => troubles.push(cause),
  }
  const aborted: boolean[] = []
  const reconciler = new Reconciler<string>(context, {
    find: key => {
      if (isBroken) throw broken
      return key
    },
    wanted: () => [
      {
        key: 'a',
        retry: fixedPause(5),
        run: signal => {
          starts.push(clock.now())
          return new Promise(resolve => signal.addEventListener('abort', () => resolve(void aborted.push(true))))
        },
      },
    ],
  })
  reconciler.update(testSessionId('subject'))
  isBroken = true
  reconciler.update(testSessionId('subject'))
  reconciler.update(testSessionId('subject'))
  isBroken = false
  await clock.advance(40_000)
  expect({ starts, troubles, aborted }).toEqual({ starts: [0], troubles: [broken, broken], aborted: [] })
  await reconciler.stop()
  expect(aborted).toEqual([true])
})

function unexpected(): never {
  return expect.unreachable()
}
