import { expect, test } from 'vitest'
import type { SessionIn } from '../../src/core/session/session-state.ts'
import { testSessionId } from '../../testkit/core/ids.ts'
import type { ScriptedProgram } from '../../testkit/in-memory/scripted-process.ts'
import { startSession } from './start-session.ts'

const HOUR = 3_600_000
const often = { on: 'crash', limit: 100, window: HOUR, firstDelay: 0, nextDelay: 1_000, maxDelay: 1_000 } as const

test('the sender notifies once about more than three restarts in an hour, even if the session recovers', async () => {
  const program: ScriptedProgram = { run: ({ start }) => (start < 8 ? [{ exit: 1 }] : [{ say: 'done: it\n' }]) }
  const { stage: simulation } = await startSession(program, undefined, { supervision: { restart: often } })
  await simulation.until(() => simulation.hasEnded('s1'))
  const told = simulation.events('s1').filter(event => event.type === 'session.restarting-often')
  expect(told).toMatchObject([{ restarts: 4, within: HOUR }])
  expect(simulation.session('s1')).toMatchObject({ restartCount: 7, phase: { outcome: 'done' } })
})

test('a successful turn resets the restart count', async () => {
  const program: ScriptedProgram = {
    run: ({ start }) => (start % 3 === 0 ? [{ say: 'done: it\n' }] : [{ say: 'thread: t-1\n' }, { exit: 1 }]),
  }
  const { stage: simulation, engine } = await startSession(program, undefined, {
    supervision: { restart: { ...often, limit: 2 } },
  })
  await engine.send(testSessionId('s1'), { key: 'k', summary: 'more', text: Buffer.from('more') })
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')).toMatchObject({
    attempt: { number: 6 },
    restartCount: 4,
    phase: { outcome: 'done' },
  })
})

test('the supervisor restarts a failing command if the user asked for that, and then gives up with a reason', async () => {
  const { stage: simulation } = await startSession({ run: () => [{ exit: 3 }] }, undefined, {
    agent: 'mute',
    supervision: { restart: { ...often, on: 'failure', limit: 2 } },
  })
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')).toMatchObject({
    attempt: { number: 3 },
    phase: {
      outcome: 'gave-up',
      reason: '2 restarts within 1 h did not help; the last attempt: exit code 3',
      trouble: 'crash',
    },
  })
})

test('a crash ends a session without restarts', async () => {
  const { stage: simulation } = await startSession({ run: () => [{ exit: 1 }] }, undefined, {
    supervision: { restart: { ...often, limit: 0 } },
  })
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')).toMatchObject({
    attempt: { number: 1 },
    phase: { outcome: 'gave-up', reason: 'exit code 1 before the agent ended its turn' },
  })
})

test('a usage limit that lasts longer than the maximum wait ends the session, and a user can resume it', async () => {
  const reset = Date.UTC(2026, 0, 3)
  const program: ScriptedProgram = {
    run: ({ start }) => (start === 1 ? [{ say: `limit: ${reset}\n` }, { exit: 1 }] : [{ say: 'done: it\n' }]),
  }
  const day = { silence: null, limit: 24 * HOUR, absence: null }
  const { stage: simulation, engine } = await startSession(program, undefined, { supervision: { patience: day } })
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')?.phase).toMatchObject({ outcome: 'stopped', trouble: 'rate-limit' })
  expect(JSON.stringify(simulation.session('s1')?.phase)).toContain('and oneshot waits 1 d at most')
  await engine.resume(testSessionId('s1'))
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')?.phase).toMatchObject({ outcome: 'done' })
})

test('usage limits without an answer between them count as one wait', async () => {
  const program: ScriptedProgram = { run: () => [{ say: 'limit: 0\n' }, { exit: 1 }] }
  const { stage: simulation } = await startSession(program, undefined, {
    supervision: { patience: { silence: null, limit: 2 * HOUR, absence: null } },
  })
  await simulation.until(() => simulation.hasEnded('s1'))
  const waited = (simulation.session('s1') as SessionIn<'ended'>).phase.at - Date.UTC(2026, 0, 1)
  expect(waited).toBeGreaterThan(HOUR)
  expect(waited).toBeLessThanOrEqual(2 * HOUR)
})

test('sessions that wait for the same limit do not come back at the same moment', async () => {
  const reset = Date.UTC(2026, 0, 1, 5)
  const until: number[] = []
  for (const dice of [0, 0.25, 0.5, 0.75]) {
    const { stage: simulation } = await startSession(
      { run: () => [{ say: `limit: ${reset}\n` }, { exit: 1 }] },
      machine => {
        machine.clock.dice = dice
      },
    )
    await simulation.until(() => simulation.session('s1')?.phase.name === 'resting')
    until.push((simulation.session('s1') as SessionIn<'resting'>).phase.until - reset)
  }
  expect(until).toEqual([1_000, 16_000, 31_000, 46_000])
})
