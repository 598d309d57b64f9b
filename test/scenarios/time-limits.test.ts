import { expect, test } from 'vitest'
import { testSessionId } from '../../testkit/core/ids.ts'
import type { ScriptedProgram } from '../../testkit/in-memory/scripted-process.ts'
import { startSession } from './start-session.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Its first life goes on for ever; the second finishes. */
const LONG: ScriptedProgram = {
  run: ({ start }) => (start === 1 ? [{ say: 'thread: t-1\n' }, { wait: Infinity }] : [{ say: 'done: it\n' }]),
}

test('the time limit does not count hours in which the machine was off', async () => {
  const { stage: simulation, engine } = await startSession(LONG, undefined, { supervision: { maxTime: 5 * HOUR } })
  await simulation.until(() => simulation.session('s1')?.thread.id === 't-1')
  await engine.shutDown()
  simulation.machine.reboot()
  await simulation.clock.advance(8 * HOUR)
  await simulation.supervisor().engine.start()
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')).toMatchObject({ attempt: { number: 2 }, phase: { outcome: 'done' } })
})

test('the time limit counts neither a rest that ended while the machine was off nor days of absence before a resume', async () => {
  const patience = { silence: null, limit: null, absence: 3 * DAY }
  const crashing: ScriptedProgram = { run: ({ start }) => (start === 1 ? [{ exit: 1 }] : [{ say: 'done: it\n' }]) }
  for (const off of [8 * HOUR, 4 * DAY]) {
    const { stage: simulation, engine } = await startSession(crashing, undefined, {
      supervision: { maxTime: 5 * HOUR, patience },
    })
    await simulation.until(() => simulation.session('s1')?.phase.name === 'resting')
    await engine.shutDown()
    await simulation.clock.advance(off)
    const later = simulation.supervisor()
    await later.engine.start()
    if (off > 3 * DAY) {
      await simulation.until(() => simulation.session('s1')?.phase.name === 'blocked')
      await later.engine.resume(testSessionId('s1'))
    }
    await simulation.until(() => simulation.hasEnded('s1'))
    expect(simulation.session('s1')?.phase).toMatchObject({ outcome: 'done' })
  }
})

test('the time limit counts neither the wait for a usage limit, nor a hold, nor the wait for an answer', async () => {
  const reset = Date.UTC(2026, 0, 1, 7)
  const limited: ScriptedProgram = {
    run: ({ start }) => (start === 1 ? [{ say: `limit: ${reset}\n` }, { exit: 1 }] : [{ say: 'done: it\n' }]),
  }
  const held = await startSession(limited, undefined, { supervision: { maxTime: 5 * HOUR } })
  await held.stage.until(() => held.stage.session('s1')?.phase.name === 'resting')
  await held.stage.clock.advance(6 * HOUR)
  await held.engine.hold(testSessionId('s1'))
  await held.stage.clock.advance(6 * HOUR)
  await held.engine.resume(testSessionId('s1'))
  await held.stage.until(() => held.stage.hasEnded('s1'))
  expect(held.stage.session('s1')?.phase).toMatchObject({ outcome: 'done' })
  const asking: ScriptedProgram = {
    run: () => [{ say: 'ask: may I?\n' }, { wait: 9 * HOUR }, { say: 'answer: yes\n' }, { say: 'done: it\n' }],
  }
  const asked = await startSession(asking, undefined, { supervision: { maxTime: 5 * HOUR } })
  await asked.stage.until(() => asked.stage.hasEnded('s1'))
  expect(asked.stage.session('s1')).toMatchObject({ attempt: { number: 1 }, phase: { outcome: 'done' } })
})

test('a session that finished without a supervisor is done whatever its time limit, in safe mode too', async () => {
  for (const isHeld of [false, true]) {
    const finishing: ScriptedProgram = {
      run: () => [{ say: 'thread: t-1\n' }, { wait: 4 * HOUR }, { say: 'done: it\n' }],
    }
    const { stage: simulation, engine } = await startSession(finishing, undefined, {
      supervision: { maxTime: 5 * HOUR },
    })
    await simulation.until(() => simulation.session('s1')?.thread.id === 't-1')
    await engine.shutDown()
    await simulation.clock.advance(20 * HOUR)
    await simulation.supervisor().engine.start({ isHeld })
    await simulation.until(() => simulation.hasEnded('s1'))
    expect(simulation.session('s1')).toMatchObject({ attempt: { number: 1 }, phase: { outcome: 'done' } })
  }
})

test('the supervisor accepts the usage limit that a hanging agent has reported', async () => {
  const reset = Date.UTC(2026, 0, 1, 9)
  const stuck: ScriptedProgram = {
    run: ({ start }) =>
      start === 1 ? [{ say: `thread: t-1\nlimit: ${reset}\n` }, { wait: Infinity }] : [{ say: 'done: it\n' }],
  }
  const patience = { silence: 600_000, limit: null, absence: null }
  const { stage: simulation } = await startSession(stuck, undefined, { supervision: { patience } })
  await simulation.until(() => simulation.session('s1')?.phase.name === 'resting')
  expect(simulation.session('s1')?.phase).toMatchObject({ cause: 'limit', trouble: 'rate-limit', until: reset + 1_000 })
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')).toMatchObject({
    attempt: { number: 2 },
    restartCount: 0,
    phase: { outcome: 'done' },
  })
})
