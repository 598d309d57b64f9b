import { describe, expect, test } from 'vitest'
import { testSessionId } from '../../testkit/core/ids.ts'
import type { Simulation } from '../../testkit/in-memory/simulation.ts'
import type { ScriptedProgram } from '../../testkit/in-memory/scripted-process.ts'
import { startSession } from './start-session.ts'

const PATIENT: ScriptedProgram = { run: () => [{ say: 'thread: t-1\n' }, { wait: Infinity }] }
const CRASHING: ScriptedProgram = { run: () => [{ exit: 1 }] }

test('a stop before the program lives starts nothing afterwards', async () => {
  const { stage: simulation, engine } = await startSession(PATIENT, machine => {
    machine.hasDeadPanes = true
  })
  await engine.stop(testSessionId('s1'))
  simulation.machine.hasDeadPanes = false
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')?.phase).toMatchObject({ outcome: 'stopped', reason: 'stopped by you' })
  expect(simulation.machine.starts).toEqual([])
})

test('a stop while the program is just being started reaches it', async () => {
  const { stage: simulation, engine } = await startSession({
    ...PATIENT,
    onInterrupt: [{ say: 'I save my work\n' }, { exit: 130 }],
  })
  await engine.stop(testSessionId('s1'))
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.transcript('s1')).toContain('I save my work\n')
  expect(simulation.session('s1')).toMatchObject({
    phase: { outcome: 'stopped' },
    attempt: { exit: { kind: 'code', code: 130 } },
  })
})

test('a stop interrupts a running program and keeps its last output', async () => {
  const { stage: simulation, engine } = await startSession({
    ...PATIENT,
    onInterrupt: [{ wait: 4_000 }, { say: 'bye' }, { exit: 130 }],
  })
  await simulation.until(() => simulation.session('s1')?.phase.name === 'running')
  await engine.stop(testSessionId('s1'))
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.transcript('s1')).toBe(
    'thread: t-1\n── stopped by you; oneshot interrupts it\nbye\n── attempt 1: exit code 130\n── stopped: stopped by you (exit code 130)\n',
  )
})

test.each([0, 30_000])(
  'a stop with a grace of %i ms terminates a program that ignores interrupts after that time',
  async stopGrace => {
    const { stage: simulation, engine } = await startSession({ ...PATIENT, ignoredSignals: ['SIGINT'] }, undefined, {
      supervision: { stopGrace },
    })
    await simulation.until(() => simulation.session('s1')?.phase.name === 'running')
    await engine.stop(testSessionId('s1'))
    await simulation.until(() => simulation.hasEnded('s1'))
    const steps = simulation.events('s1').flatMap(event => (event.type === 'session.stopping' ? [event] : []))
    expect(steps.map(({ step }) => step)).toEqual(['interrupt', 'terminate'])
    expect((steps[1]?.at ?? 0) - (steps[0]?.at ?? 0)).toBe(stopGrace)
  },
)

test('a stop terminates a program that ignores interrupts, and kills one that ignores that too', async () => {
  const steps = async (deafTo: string[]): Promise<unknown[]> => {
    const { stage: simulation, engine } = await startSession({ ...PATIENT, ignoredSignals: deafTo })
    await simulation.until(() => simulation.session('s1')?.phase.name === 'running')
    await engine.stop(testSessionId('s1'))
    await simulation.until(() => simulation.hasEnded('s1'))
    const taken = simulation.events('s1').flatMap(event => (event.type === 'session.stopping' ? [event.step] : []))
    return [...taken, simulation.session('s1')?.attempt.exit]
  }
  expect(await steps([])).toEqual(['interrupt', { kind: 'signal', signal: 'SIGINT' }])
  expect(await steps(['SIGINT'])).toEqual(['interrupt', 'terminate', { kind: 'signal', signal: 'SIGTERM' }])
  expect(await steps(['SIGINT', 'SIGTERM'])).toEqual([
    'interrupt',
    'terminate',
    'kill',
    { kind: 'signal', signal: 'SIGKILL' },
  ])
})

test('a second stop changes nothing', async () => {
  const { stage: simulation, engine } = await startSession({
    ...PATIENT,
    onInterrupt: [{ wait: 1_000 }, { say: 'bye\n' }],
  })
  await simulation.until(() => simulation.session('s1')?.phase.name === 'running')
  await engine.stop(testSessionId('s1'))
  const once = simulation.events('s1')
  await engine.stop(testSessionId('s1'))
  expect(simulation.events('s1')).toEqual(once)
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.transcript('s1').match(/bye/g)).toHaveLength(1)
})

test('a stop ends a program that waits for an answer', async () => {
  const { stage: simulation, engine } = await startSession({
    run: () => [{ say: 'ask: may I?\n' }, { wait: Infinity }],
  })
  await simulation.until(() => simulation.session('s1')?.phase.name === 'waiting')
  await engine.stop(testSessionId('s1'))
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')?.phase).toMatchObject({ outcome: 'stopped' })
})

test('a stop ends a resting session at once', async () => {
  const { stage: simulation, engine } = await startSession(CRASHING)
  await simulation.until(() => simulation.session('s1')?.phase.name === 'resting')
  await engine.stop(testSessionId('s1'))
  expect(simulation.session('s1')?.phase).toMatchObject({
    outcome: 'stopped',
    reason: 'stopped by you while it was resting',
  })
  await simulation.clock.advance(600_000)
  expect(simulation.machine.starts).toEqual(['s1.1'])
})

test('a stop after the end changes nothing', async () => {
  const { stage: simulation, engine } = await startSession({ run: () => [{ say: 'done: it\n' }] })
  await simulation.until(() => simulation.hasEnded('s1'))
  const before = simulation.session('s1')
  await engine.stop(testSessionId('s1'))
  expect(simulation.session('s1')).toEqual(before)
})

test('the supervisor stops a session that exceeds its time limit, running or resting', async () => {
  const running = await startSession(PATIENT, () => undefined, { supervision: { maxTime: 60_000 } })
  await running.stage.until(() => running.stage.hasEnded('s1'))
  expect(running.stage.session('s1')?.phase).toMatchObject({
    outcome: 'stopped',
    reason: 'the time limit of 1 min was reached (killed by SIGINT)',
  })
  const delay = 100_000
  const restart = {
    on: 'crash',
    limit: 3,
    window: 600_000,
    firstDelay: delay,
    nextDelay: delay,
    maxDelay: delay,
  } as const
  const resting = await startSession(CRASHING, () => undefined, { supervision: { maxTime: 60_000, restart } })
  await resting.stage.until(() => resting.stage.hasEnded('s1'))
  expect(resting.stage.session('s1')?.phase).toMatchObject({
    at: Date.UTC(2026, 0, 1) + 60_000,
    outcome: 'stopped',
    reason: 'the time limit of 1 min was reached',
  })
})

describe('a request that a command stored while no supervisor lived', () => {
  const ref = { sessionId: testSessionId('s1'), attempt: 1 }

  async function withoutSupervisor(): Promise<Simulation> {
    const { stage: simulation, engine } = await startSession(PATIENT)
    await simulation.until(() => simulation.session('s1')?.phase.name === 'running')
    await engine.shutDown()
    return simulation
  }

  test('makes the end of the program a stop and not a crash', async () => {
    const simulation = await withoutSupervisor()
    simulation.machine.attempt(ref).request = { type: 'stop', by: null }
    simulation.machine.attempt(ref).process?.signal('SIGTERM')
    await simulation.supervisor().engine.start()
    await simulation.until(() => simulation.hasEnded('s1'))
    expect(simulation.session('s1')?.phase).toMatchObject({
      outcome: 'stopped',
      reason: 'stopped by you (killed by SIGTERM)',
    })
    expect(simulation.machine.starts).toEqual(['s1.1'])
  })

  test('holds the session and names the session that asked for it', async () => {
    const simulation = await withoutSupervisor()
    simulation.machine.attempt(ref).request = { type: 'hold', by: 'fix-auth' }
    simulation.machine.attempt(ref).process?.signal('SIGTERM')
    await simulation.supervisor().engine.start()
    await simulation.until(() => simulation.session('s1')?.phase.name === 'blocked')
    expect(simulation.session('s1')?.phase).toMatchObject({ question: 'held by the session fix-auth', trouble: 'held' })
  })

  test('takes effect although the command died before it had ended the program', async () => {
    const simulation = await withoutSupervisor()
    simulation.machine.attempt(ref).request = { type: 'stop', by: null }
    await simulation.supervisor().engine.start()
    await simulation.until(() => simulation.hasEnded('s1'))
    expect(simulation.session('s1')?.phase).toMatchObject({ outcome: 'stopped' })
  })

  test('counts for its own attempt alone', async () => {
    const simulation = await withoutSupervisor()
    simulation.machine.attempt(ref).request = { type: 'hold', by: null }
    const { engine } = simulation.supervisor()
    await engine.start()
    await simulation.until(() => simulation.session('s1')?.phase.name === 'blocked')
    await engine.resume(testSessionId('s1'))
    await simulation.until(() => simulation.session('s1')?.phase.name === 'running')
    await engine.shutDown()
    await simulation.supervisor().engine.start()
    expect(simulation.session('s1')?.phase.name).toBe('running')
  })
})
