import { expect, test } from 'vitest'
import { Superseded } from '../../src/ports/store.ts'
import type { Work } from '../../src/ports/work.ts'
import { type Line, Stage, specOf } from '../../src/testkit/memory/stage.ts'
import { begin } from './begin.ts'

const FILES = { prompt: Buffer.from('do it'), env: {} }

test('sessions live side by side: one that hangs holds up no other', async () => {
  const stage = new Stage({
    talker: { run: ({ stdin }) => (stdin === 'hang' ? [{ wait: Infinity }] : [{ wait: 100 }, { say: 'done: it\n' }]) },
  })
  const { engine } = stage.supervisor()
  await engine.start()
  const ids = ['a', 'b', 'c', 'd']
  for (const id of ids) {
    const prompt = Buffer.from(id === 'a' ? 'hang' : 'go')
    await engine.create(specOf({ agent: 'talker', id, name: `talker-${id}` }), { prompt, env: {} })
  }
  await stage.until(() => ['b', 'c', 'd'].every(id => stage.hasEnded(id)))
  expect(ids.map(id => stage.session(id)?.phase.name)).toEqual(['running', 'ended', 'ended', 'ended'])
})

test('an ended session is removed with all its files, a living one is not', async () => {
  const { stage, engine } = await begin({ run: () => [{ wait: 100 }, { say: 'done: it\n' }] })
  expect(await engine.remove('s1')).toBe(false)
  await stage.until(() => stage.hasEnded('s1'))
  expect(await engine.remove('s1')).toBe(true)
  expect([stage.session('s1'), stage.events('s1'), stage.machine.sessions.size]).toEqual([undefined, [], 0])
})

test('everybody who listens hears of each change', async () => {
  const { stage, engine } = await begin({ run: () => [{ wait: 100 }, { say: 'done: it\n' }] })
  const phases: string[] = []
  const forget = engine.onChange(session => phases.push(session.phase.name))
  await stage.until(() => stage.hasEnded('s1'))
  forget()
  expect([...new Set(phases)]).toEqual(['running', 'stopping', 'ended'])
})

test('a supervisor that is shut down begins nothing more, and the work continues', async () => {
  const { stage, engine } = await begin({ run: () => [{ wait: 100 }, { exit: 1 }] })
  await stage.until(() => stage.session('s1')?.phase.name === 'running')
  await engine.shutDown()
  const before = stage.session('s1')
  await stage.clock.pass(60_000)
  expect(stage.session('s1')).toEqual(before)
  expect(stage.machine.attempt({ sessionId: 's1', attempt: 1 }).exit).toEqual({ kind: 'code', code: 1 })
})

test('a superseded supervisor refuses new work and says why', async () => {
  const { stage, engine } = await begin({ run: () => [{ wait: Infinity }] })
  stage.supervisor()
  await expect(engine.create(specOf({ agent: 'talker', id: 's2' }), FILES)).rejects.toThrow(Superseded)
  await expect(engine.stop('s1')).rejects.toThrow(Superseded)
  await engine.reconcile()
  expect(stage.session('s1')?.wanted).toBe('run')
  expect(stage.troubles.every(trouble => trouble instanceof Superseded)).toBe(true)
  expect(stage.troubles.length).toBeGreaterThan(0)
})

test('the slow round notes how long the logs are, so that they can be read from a point in time on', async () => {
  const { stage, engine } = await begin({ run: () => [{ say: 'hello\n' }, { wait: Infinity }] })
  await stage.until(() => stage.session('s1')?.phase.name === 'running')
  await engine.reconcile()
  expect(stage.machine.sessions.get('s1')?.times).toEqual([{ at: stage.clock.now(), size: 6 }])
})

test('a session that ends while panes are given back is not given one that nobody closes', async () => {
  const stage = new Stage({ talker: { run: () => [{ wait: 100 }, { say: 'done: it\n' }] } })
  const isAtWork = (): boolean => stage.session('s1') !== undefined
  const { engine } = stage.supervisor(
    slowToMend(async () => (isAtWork() ? stage.until(() => stage.hasEnded('s1')) : undefined)),
  )
  await engine.start()
  await engine.create(specOf({ agent: 'talker' }), FILES)
  await stage.until(() => stage.session('s1')?.phase.name === 'running')
  await engine.mend()
  expect(stage.session('s1')?.phase.name).toBe('ended')
  expect([...stage.machine.panes]).toEqual([])
})

/** Something happens between the decision to mend and the deed. */
function slowToMend(meanwhile: () => Promise<void>): Line {
  const slow = (work: Work): Work['mend'] => {
    return async (...args) => {
      await meanwhile()
      await work.mend(...args)
    }
  }
  return {
    feed: port =>
      new Proxy(port, {
        get: (target, key) => {
          if (key === 'mend') return slow(target as unknown as Work)
          const value: unknown = Reflect.get(target, key)
          return typeof value === 'function' ? value.bind(target) : value
        },
      }),
  }
}
