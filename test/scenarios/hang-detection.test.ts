import { expect, test } from 'vitest'
import type { ScriptedProgram } from '../../testkit/in-memory/scripted-process.ts'
import { startSession } from './start-session.ts'

const MINUTE = 60_000
const patience = { silence: 10 * MINUTE, limit: null, absence: null }

/** The first life does this and then nothing more; the second finishes. */
function once(...deeds: ReturnType<ScriptedProgram['run']>): ScriptedProgram {
  return {
    run: ({ start }) => (start === 1 ? [{ say: 'thread: t-1\n' }, ...deeds] : [{ say: 'done: it\n' }]),
  }
}

test('the hang monitor ends an idle agent with a reason, and the next attempt continues in its thread', async () => {
  const { stage: simulation } = await startSession(once({ wait: Infinity }), undefined, { supervision: { patience } })
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')).toMatchObject({
    phase: { outcome: 'done' },
    attempt: { number: 2 },
    thread: { id: 't-1' },
    restartCount: 1,
  })
  const resting = simulation.events('s1').find(event => event.type === 'session.resting')
  expect(resting).toMatchObject({
    cause: 'crash',
    trouble: 'silence',
    reason: 'silent for 10 min: no output, no CPU in 1 process, no open tool call',
  })
})

test('the hang monitor accepts an hour of CPU work without output', async () => {
  const { stage: simulation } = await startSession(once({ compute: 60 * MINUTE }, { say: 'done: it\n' }), undefined, {
    supervision: { patience },
  })
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')).toMatchObject({ attempt: { number: 1 }, phase: { outcome: 'done' } })
})

test('the hang monitor lets an open tool be quiet for longer, but not for ever', async () => {
  const busy = await startSession(
    once({ say: 'tool: sleep 1800\n' }, { wait: 30 * MINUTE }, { say: 'done: it\n' }),
    undefined,
    { supervision: { patience } },
  )
  await busy.stage.until(() => busy.stage.hasEnded('s1'))
  expect(busy.stage.session('s1')).toMatchObject({ attempt: { number: 1 }, phase: { outcome: 'done' } })
  const stuck = await startSession(once({ say: 'tool: cat\n' }, { wait: Infinity }), undefined, {
    supervision: { patience },
  })
  await stuck.stage.until(() => stuck.stage.hasEnded('s1'))
  expect(stuck.stage.transcript('s1')).toContain(
    '── silent for 40 min: no output, no CPU in 1 process, tool cat has not ended',
  )
})

test('the hang monitor does not count a night of suspend as silence', async () => {
  const { stage: simulation } = await startSession(once({ wait: 9 * MINUTE }, { say: 'done: it\n' }), undefined, {
    supervision: { patience },
  })
  await simulation.clock.advance(4 * MINUTE)
  simulation.clock.suspend(8 * 60 * MINUTE)
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')).toMatchObject({ attempt: { number: 1 }, phase: { outcome: 'done' } })
})

test('the hang monitor waits for an agent that asks, however quiet it is', async () => {
  const program = once({ say: 'ask: may I?\n' }, { wait: 50 * MINUTE }, { say: 'answer: yes\n' }, { say: 'done: it\n' })
  const { stage: simulation } = await startSession(program, undefined, { supervision: { patience } })
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')).toMatchObject({ attempt: { number: 1 }, phase: { outcome: 'done' } })
})

test('a turn that is over stays over when its process does not end', async () => {
  const { stage: simulation } = await startSession(once({ say: 'done: it\n' }, { wait: Infinity }), undefined, {
    supervision: { patience },
  })
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')).toMatchObject({ attempt: { number: 1 }, phase: { outcome: 'done' } })
  expect(simulation.machine.alive()).toEqual([])
})

test('a new supervisor starts the hang detection from zero', async () => {
  const { stage: simulation, engine } = await startSession(once({ wait: Infinity }), undefined, {
    supervision: { patience },
  })
  await simulation.clock.advance(5 * MINUTE)
  await engine.shutDown()
  const successor = simulation.supervisor()
  await successor.engine.start()
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')).toMatchObject({ attempt: { number: 2 }, phase: { outcome: 'done' } })
})

test('the supervisor ends an attempt that exceeds its memory limit, and reports no crash', async () => {
  const program = once({ hold: 3 * 1024 ** 3 }, { wait: Infinity })
  const { stage: simulation } = await startSession(program, undefined, { supervision: { memory: 2 * 1024 ** 3 } })
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.events('s1').find(event => event.type === 'session.resting')).toMatchObject({
    trouble: 'memory',
    reason: 'out of memory: 3 GB in 1 process, where 2 GB are allowed',
  })
  expect(simulation.session('s1')).toMatchObject({ attempt: { number: 2 }, phase: { outcome: 'done' } })
})

test('the output monitor warns about a session that writes too much, and then stops it for good', async () => {
  const chatter: ScriptedProgram = {
    run: () => [{ say: `${'x'.repeat(850)}\n` }, { wait: 5_000 }, { say: 'y'.repeat(300) }, { wait: Infinity }],
  }
  const { stage: simulation, engine } = await startSession(chatter, undefined, { supervision: { maxOutput: 1_000 } })
  await simulation.clock.advance(1_000)
  engine.checkOutput()
  await simulation.clock.advance(5_000)
  engine.checkOutput()
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.events('s1').find(event => event.type === 'session.noted')).toMatchObject({
    note: 'it has written 851 B of 1000 B; oneshot stops it at the limit',
  })
  expect(simulation.session('s1')).toMatchObject({
    attempt: { number: 1 },
    phase: {
      outcome: 'stopped',
      trouble: 'output',
      reason: expect.stringMatching(/^the output limit of 1000 B was reached: 1.1 KB were written/),
    },
  })
})

test('the supervisor restarts a command that hangs or exceeds a limit only if the user asked for that', async () => {
  const mute: ScriptedProgram = { run: ({ start }) => (start === 1 ? [{ wait: Infinity }] : []) }
  const left = await startSession(mute, undefined, { agent: 'mute', supervision: { patience } })
  await left.stage.until(() => left.stage.hasEnded('s1'))
  expect(left.stage.session('s1')).toMatchObject({
    attempt: { number: 1 },
    phase: { outcome: 'failed', trouble: 'silence' },
  })
  const restart = { on: 'failure', limit: 1, window: MINUTE, firstDelay: 0, nextDelay: 0, maxDelay: 0 } as const
  const again = await startSession(mute, undefined, { agent: 'mute', supervision: { patience, restart } })
  await again.stage.until(() => again.stage.hasEnded('s1'))
  expect(again.stage.session('s1')).toMatchObject({ attempt: { number: 2 }, phase: { outcome: 'done' } })
})
