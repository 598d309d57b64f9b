import { expect, test } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { testSessionId } from '../../testkit/core/ids.ts'
import type { ScriptedProgram } from '../../testkit/in-memory/scripted-process.ts'
import { makeSpec, type Simulation } from '../../testkit/in-memory/simulation.ts'
import { startSession } from './start-session.ts'

const FOR_EVER: ScriptedProgram = { run: () => [{ say: 'thread: t\n' }, { wait: Infinity }] }
const PARENT = { id: 's1', key: 'task 1' }

async function withChild(program = FOR_EVER): Promise<{ stage: Simulation; engine: Engine }> {
  const { stage: simulation, engine } = await startSession(program)
  const spec = makeSpec({ agent: 'talker', id: 's2', name: 'talker-child', parent: PARENT })
  await engine.create(spec, { prompt: Buffer.from('do a part'), env: {} })
  await simulation.until(() => ['s1', 's2'].every(id => simulation.session(id)?.phase.name === 'running'))
  return { stage: simulation, engine }
}

test('a stop of a session stops the sessions that it started', async () => {
  const { stage: simulation, engine } = await withChild()
  await engine.stop(testSessionId('s1'))
  await simulation.until(() => simulation.hasEnded('s1') && simulation.hasEnded('s2'))
  expect(simulation.session('s2')?.phase).toMatchObject({ outcome: 'stopped' })
  expect(simulation.machine.alive()).toEqual([])
})

test('the supervisor stops the child sessions of a session that has ended by itself', async () => {
  const { stage: simulation } = await withChild({
    run: ({ stdin }) => (stdin.includes('part') ? [{ wait: Infinity }] : [{ wait: 60_000 }, { say: 'done: it\n' }]),
  })
  await simulation.until(() => simulation.hasEnded('s1') && simulation.hasEnded('s2'))
  expect(simulation.session('s1')?.phase).toMatchObject({ outcome: 'done' })
  expect(simulation.session('s2')?.phase).toMatchObject({ outcome: 'stopped' })
})

test('a new supervisor stops the child sessions that the last one left behind', async () => {
  const { stage: simulation, engine: first } = await withChild()
  await first.shutDown()
  const record = JSON.parse(simulation.disk.sessions.get('s1') ?? '') as { wanted: string }
  simulation.disk.sessions.set('s1', JSON.stringify({ ...record, wanted: 'stop' }))
  const { engine } = simulation.supervisor()
  await engine.start()
  await simulation.until(() => simulation.hasEnded('s2'))
  expect(simulation.session('s2')?.phase).toMatchObject({ outcome: 'stopped' })
})
