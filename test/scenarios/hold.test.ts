import { expect, test } from 'vitest'
import { testSessionId } from '../../testkit/core/ids.ts'
import type { ScriptedProgram } from '../../testkit/in-memory/scripted-process.ts'
import type { Simulation } from '../../testkit/in-memory/simulation.ts'
import { startSession } from './start-session.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Its first life goes on for ever; the second finishes. */
const LONG: ScriptedProgram = {
  run: ({ start }) => (start === 1 ? [{ say: 'thread: t-1\n' }, { wait: Infinity }] : [{ say: 'done: it\n' }]),
}

function threaded(simulation: Simulation): () => boolean {
  return () => simulation.session('s1')?.thread.id === 't-1'
}

test('a held session pauses with its time limit until somebody resumes it', async () => {
  const { stage: simulation, engine } = await startSession(LONG, undefined, { supervision: { maxTime: HOUR } })
  await simulation.until(threaded(simulation))
  await engine.hold(testSessionId('s1'))
  await simulation.until(() => simulation.session('s1')?.phase.name === 'blocked')
  expect(simulation.session('s1')?.phase).toMatchObject({ trouble: 'held', question: 'held by you' })
  expect(simulation.machine.alive()).toEqual([])
  await simulation.clock.advance(10 * HOUR)
  expect(simulation.session('s1')?.phase.name).toBe('blocked')
  await engine.send(testSessionId('s1'), { key: 'k', summary: 'and this', text: Buffer.from('and this') })
  await simulation.clock.advance(HOUR)
  expect(simulation.machine.starts, 'a message waits with it').toEqual(['s1.1'])
  await engine.resume(testSessionId('s1'))
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')).toMatchObject({ thread: { id: 't-1' }, phase: { outcome: 'done' } })
})

test('a user can hold a resting session and stop a held one', async () => {
  const { stage: simulation, engine } = await startSession({
    run: () => [{ say: `limit: ${Date.UTC(2026, 0, 1, 9)}\n` }, { exit: 1 }],
  })
  await simulation.until(() => simulation.session('s1')?.phase.name === 'resting')
  await engine.hold(testSessionId('s1'))
  await simulation.clock.advance(DAY)
  expect(simulation.session('s1')?.phase).toMatchObject({ name: 'blocked', trouble: 'held' })
  await engine.stop(testSessionId('s1'))
  expect(simulation.session('s1')?.phase).toMatchObject({ name: 'ended', outcome: 'stopped' })
})

test('a session continues in its thread after a reboot, which uses up no restart', async () => {
  const { stage: simulation, engine: first } = await startSession(LONG)
  await simulation.until(threaded(simulation))
  await first.shutDown()
  simulation.machine.reboot()
  await simulation.clock.advance(HOUR)
  const { engine } = simulation.supervisor()
  await engine.start()
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')).toMatchObject({
    attempt: { number: 2 },
    restartCount: 0,
    phase: { outcome: 'done' },
  })
  expect(simulation.events('s1').find(event => event.type === 'session.resting')).toMatchObject({
    cause: 'reboot',
    trouble: 'reboot',
    reason: 'the machine was restarted',
  })
})

test('the supervisor does not start a command twice after a reboot', async () => {
  const { stage: simulation, engine: first } = await startSession({ run: () => [{ wait: Infinity }] }, undefined, {
    agent: 'mute',
  })
  await simulation.until(() => simulation.session('s1')?.phase.name === 'running')
  await first.shutDown()
  simulation.machine.reboot()
  const { engine } = simulation.supervisor()
  await engine.start()
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')?.phase).toMatchObject({ outcome: 'failed', reason: 'the machine was restarted' })
})

test('a session that last worked, or was due, long ago waits for the user after a reboot', async () => {
  const patience = { silence: null, limit: null, absence: 3 * DAY }
  const working = await startSession(LONG, undefined, { supervision: { patience } })
  await working.stage.until(threaded(working.stage))
  await working.engine.shutDown()
  working.stage.machine.reboot()
  await working.stage.clock.advance(17 * DAY)
  await working.stage.supervisor().engine.start()
  await working.stage.until(() => working.stage.session('s1')?.phase.name === 'blocked')
  expect(working.stage.session('s1')?.phase).toMatchObject({
    trouble: 'absence',
    question: 'the machine was restarted, and it last worked 17 d ago',
  })
  const reset = Date.UTC(2026, 0, 1, 5)
  const resting = await startSession({ run: () => [{ say: `limit: ${reset}\n` }, { exit: 1 }] }, undefined, {
    supervision: { patience },
  })
  await resting.stage.until(() => resting.stage.session('s1')?.phase.name === 'resting')
  await resting.engine.shutDown()
  await resting.stage.clock.advance(17 * DAY)
  await resting.stage.supervisor().engine.start()
  await resting.stage.until(() => resting.stage.session('s1')?.phase.name === 'blocked')
  expect(resting.stage.session('s1')?.phase).toMatchObject({ trouble: 'absence' })
})

test('a supervisor in safe mode continues only sessions with a live process', async () => {
  const { stage: simulation, engine } = await startSession(LONG)
  await simulation.until(threaded(simulation))
  await engine.shutDown()
  const careful = simulation.supervisor()
  await careful.engine.start({ isHeld: true })
  expect(simulation.session('s1')?.phase.name, 'it lives').toBe('running')
  await careful.engine.shutDown()
  simulation.machine.reboot()
  const later = simulation.supervisor()
  await later.engine.start({ isHeld: true })
  await simulation.until(() => simulation.session('s1')?.phase.name === 'blocked')
  expect(simulation.session('s1')?.phase).toMatchObject({ trouble: 'held' })
  await later.engine.resume(testSessionId('s1'))
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')).toMatchObject({ attempt: { number: 2 }, phase: { outcome: 'done' } })
})

test('a session whose folder is missing waits for it to come back', async () => {
  const crashing: ScriptedProgram = {
    run: ({ start }) => (start === 1 ? [{ say: 'thread: t-1\n' }, { wait: 10 }, { exit: 1 }] : [{ say: 'done: it\n' }]),
  }
  const { stage: simulation, engine } = await startSession(crashing, undefined, { cwd: '/project' })
  await simulation.until(threaded(simulation))
  simulation.machine.lostFolders.add('/project')
  await simulation.until(() => simulation.session('s1')?.phase.name === 'blocked')
  expect(simulation.session('s1')?.phase).toMatchObject({ trouble: 'folder', question: 'its folder /project is gone' })
  simulation.machine.lostFolders.clear()
  await engine.resume(testSessionId('s1'))
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')?.phase).toMatchObject({ outcome: 'done' })
})
