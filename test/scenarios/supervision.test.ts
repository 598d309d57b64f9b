import { expect, test } from 'vitest'
import { Superseded } from '../../src/ports/store.ts'
import type { Runtime } from '../../src/ports/runtime.ts'
import { testSessionId } from '../../testkit/core/ids.ts'
import { type CallInterceptor, Simulation, makeSpec } from '../../testkit/in-memory/simulation.ts'
import { startSession } from './start-session.ts'

const FILES = { prompt: Buffer.from('do it'), env: {} }

test('a session that hangs delays no other session', async () => {
  const simulation = new Simulation({
    talker: { run: ({ stdin }) => (stdin === 'hang' ? [{ wait: Infinity }] : [{ wait: 100 }, { say: 'done: it\n' }]) },
  })
  const { engine } = simulation.supervisor()
  await engine.start()
  const ids = ['a', 'b', 'c', 'd']
  for (const id of ids) {
    const prompt = Buffer.from(id === 'a' ? 'hang' : 'go')
    await engine.create(makeSpec({ agent: 'talker', id, name: `talker-${id}` }), { prompt, env: {} })
  }
  await simulation.until(() => ['b', 'c', 'd'].every(id => simulation.hasEnded(id)))
  expect(ids.map(id => simulation.session(id)?.phase.name)).toEqual(['running', 'ended', 'ended', 'ended'])
})

test('remove deletes an ended session with all its files, and refuses a live one', async () => {
  const { stage: simulation, engine } = await startSession({ run: () => [{ wait: 100 }, { say: 'done: it\n' }] })
  expect(await engine.remove(testSessionId('s1'))).toBe(false)
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(await engine.remove(testSessionId('s1'))).toBe(true)
  expect([simulation.session('s1'), simulation.events('s1'), simulation.machine.sessions.size]).toEqual([
    undefined,
    [],
    0,
  ])
})

test('each listener gets every change', async () => {
  const { stage: simulation, engine } = await startSession({ run: () => [{ wait: 100 }, { say: 'done: it\n' }] })
  const phases: string[] = []
  const forget = engine.onChange(session => phases.push(session.phase.name))
  await simulation.until(() => simulation.hasEnded('s1'))
  forget()
  expect([...new Set(phases)]).toEqual(['running', 'stopping', 'ended'])
})

test('a supervisor that shuts down starts nothing more, and the work continues', async () => {
  const { stage: simulation, engine } = await startSession({ run: () => [{ wait: 100 }, { exit: 1 }] })
  await simulation.until(() => simulation.session('s1')?.phase.name === 'running')
  await engine.shutDown()
  const before = simulation.session('s1')
  await simulation.clock.advance(60_000)
  expect(simulation.session('s1')).toEqual(before)
  expect(simulation.machine.attempt({ sessionId: testSessionId('s1'), attempt: 1 }).exit).toEqual({
    kind: 'code',
    code: 1,
  })
})

test('a superseded supervisor refuses new work and says why', async () => {
  const { stage: simulation, engine } = await startSession({ run: () => [{ wait: Infinity }] })
  simulation.supervisor()
  await expect(engine.create(makeSpec({ agent: 'talker', id: 's2' }), FILES)).rejects.toThrow(Superseded)
  await expect(engine.stop(testSessionId('s1'))).rejects.toThrow(Superseded)
  await engine.runPeriodicCheck()
  expect(simulation.session('s1')?.wanted).toBe('run')
  expect(simulation.troubles.every(trouble => trouble instanceof Superseded)).toBe(true)
  expect(simulation.troubles.length).toBeGreaterThan(0)
})

test('the slow round records the lengths of the logs, so that a reader can start at a point in time', async () => {
  const { stage: simulation, engine } = await startSession({ run: () => [{ say: 'hello\n' }, { wait: Infinity }] })
  await simulation.until(() => simulation.session('s1')?.phase.name === 'running')
  await engine.runPeriodicCheck()
  expect(simulation.machine.sessions.get('s1')?.times).toEqual([{ at: simulation.clock.now(), size: 6 }])
})

test('a repair of panes gives no pane to a session that ends meanwhile', async () => {
  const simulation = new Simulation({ talker: { run: () => [{ wait: 100 }, { say: 'done: it\n' }] } })
  const isAtWork = (): boolean => simulation.session('s1') !== undefined
  const { engine } = simulation.supervisor(
    slowToMend(async () => (isAtWork() ? simulation.until(() => simulation.hasEnded('s1')) : undefined)),
  )
  await engine.start()
  await engine.create(makeSpec({ agent: 'talker' }), FILES)
  await simulation.until(() => simulation.session('s1')?.phase.name === 'running')
  await engine.repair()
  expect(simulation.session('s1')?.phase.name).toBe('ended')
  expect([...simulation.machine.panes]).toEqual([])
})

/** Something happens between the decision to mend and the deed. */
function slowToMend(meanwhile: () => Promise<void>): CallInterceptor {
  const slow = (runtime: Runtime): Runtime['repair'] => {
    return async (...args) => {
      await meanwhile()
      await runtime.repair(...args)
    }
  }
  return {
    wrap: port =>
      new Proxy(port, {
        get: (target, key) => {
          if (key === 'repair') return slow(target as unknown as Runtime)
          const value: unknown = Reflect.get(target, key)
          return typeof value === 'function' ? value.bind(target) : value
        },
      }),
  }
}
