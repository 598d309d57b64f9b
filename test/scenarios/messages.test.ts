import { expect, test } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { testSessionId } from '../../testkit/core/ids.ts'
import type { ScriptedProgram } from '../../testkit/in-memory/scripted-process.ts'
import { startSession } from './start-session.ts'

/** Writes down what it is given, says it, and ends its turn. */
const LISTENER: ScriptedProgram = {
  run: ({ stdin }) => [
    { record: 't-1' },
    { say: `thread: t-1\ntold: ${stdin}\n` },
    { wait: 1_000 },
    { say: 'done: it\n' },
  ],
}

const send = (engine: Engine, text: string): Promise<number> =>
  engine.send(testSessionId('s1'), { key: text, summary: text, text: Buffer.from(text) })

test('messages follow one another as turns of their own, each once and in order', async () => {
  const { stage: simulation, engine } = await startSession(LISTENER, undefined, { agent: 'scribe' })
  expect(await Promise.all([send(engine, 'two'), send(engine, 'three')])).toEqual([2, 3])
  expect(simulation.session('s1')?.messages.map(message => message.deliveredAt !== null)).toEqual([true, false, false])
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.machine.records.get('t-1')).toEqual(['do it', 'two', 'three'])
  expect(simulation.session('s1')?.messages.every(message => message.confirmedAt !== null)).toBe(true)
  expect(simulation.machine.starts).toEqual(['s1.1', 's1.2', 's1.3'])
})

test('the engine accepts a message with the same key once', async () => {
  const { stage: simulation, engine } = await startSession(LISTENER, undefined, { agent: 'scribe' })
  expect([await send(engine, 'two'), await send(engine, 'two')]).toEqual([2, 2])
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.machine.records.get('t-1')).toEqual(['do it', 'two'])
})

test('the engine delivers two messages with the same text', async () => {
  const { stage: simulation, engine } = await startSession(LISTENER, undefined, { agent: 'scribe' })
  for (const key of ['a', 'b'])
    await engine.send(testSessionId('s1'), { key, summary: 'again', text: Buffer.from('again') })
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.machine.records.get('t-1')).toEqual(['do it', 'again', 'again'])
})

test('a message wakes an ended session and starts its time limit anew', async () => {
  const { stage: simulation, engine } = await startSession(LISTENER, undefined, {
    agent: 'scribe',
    supervision: { maxTime: 60_000 },
  })
  await simulation.until(() => simulation.hasEnded('s1'))
  await simulation.clock.advance(100_000)
  await send(engine, 'two')
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')?.phase).toMatchObject({ outcome: 'done' })
  expect(simulation.machine.records.get('t-1')).toEqual(['do it', 'two'])
})

test('a message that arrives during a stop lets the session continue', async () => {
  const { stage: simulation, engine } = await startSession(
    { ...LISTENER, onInterrupt: [{ wait: 1_000 }, { exit: 130 }] },
    undefined,
    {
      agent: 'scribe',
    },
  )
  await simulation.until(() => simulation.session('s1')?.phase.name === 'running')
  await engine.stop(testSessionId('s1'))
  await send(engine, 'rather this')
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')?.phase).toMatchObject({ outcome: 'done' })
  expect(simulation.machine.records.get('t-1')).toEqual(['do it', 'rather this'])
})

test('the agent gets a message again if its record lacks it, and a request to continue otherwise', async () => {
  const { stage: simulation } = await startSession(
    {
      run: ({ start, stdin }) => {
        if (start === 1) return [{ say: 'thread: t-1\n' }, { die: 'SIGKILL' }]
        if (start === 2) return [{ record: 't-1' }, { say: 'thread: t-1\n' }, { die: 'SIGKILL' }]
        return LISTENER.run({ start, stdin, argv: [] })
      },
    },
    undefined,
    { agent: 'scribe' },
  )
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.machine.records.get('t-1')).toEqual([
    'do it',
    expect.stringContaining('[oneshot, attempt 3] Your process ended'),
  ])
})

test('a stopped session continues in its thread when somebody resumes it', async () => {
  const { stage: simulation, engine } = await startSession(LISTENER, undefined, { agent: 'scribe' })
  await simulation.until(() => simulation.session('s1')?.messages[0]?.confirmedAt !== null)
  await engine.stop(testSessionId('s1'))
  await simulation.until(() => simulation.hasEnded('s1'))
  await engine.resume(testSessionId('s1'))
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')?.phase).toMatchObject({ outcome: 'done' })
  expect(simulation.machine.records.get('t-1')?.[1]).toContain('stopped by you')
})

test('a command of the agent’s own counts as read, whatever the agent writes down for it', async () => {
  const { stage: simulation, engine } = await startSession(LISTENER, undefined, { agent: 'scribe' })
  await simulation.until(() => simulation.hasEnded('s1'))
  simulation.machine.records.set('t-1', ['do it'])
  await send(engine, '/compact')
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.machine.records.get('t-1')).toEqual(['do it', '/compact'])
})

test.each(['login: no key', 'failed: it broke'])(
  'the engine gives a message again that the agent takes back when its turn ends with “%s”',
  async word => {
    const { stage: simulation, engine } = await startSession(
      {
        run: ({ start, stdin, argv }) =>
          start === 1
            ? [{ record: 't-1' }, { say: 'thread: t-1\n' }, { wait: 100 }, { forget: 't-1' }, { say: `${word}\n` }]
            : LISTENER.run({ start, stdin, argv }),
      },
      undefined,
      { agent: 'scribe' },
    )
    await simulation.until(() => simulation.session('s1')?.messages[0]?.confirmedAt !== null)
    await simulation.until(() => ['blocked', 'ended'].includes(simulation.session('s1')?.phase.name ?? ''))
    expect(simulation.session('s1')?.messages[0]?.confirmedAt).toBeNull()
    await engine.resume(testSessionId('s1'))
    await simulation.until(() => simulation.hasEnded('s1'))
    expect(simulation.machine.records.get('t-1')).toEqual(['do it'])
  },
)

test('the supervisor leaves a thread in which nothing was said without a digest', async () => {
  const { stage: simulation, engine } = await startSession(
    {
      run: ({ start, stdin, argv }) =>
        start === 1
          ? [{ record: 't-0' }, { forget: 't-0' }, { say: 'thread: t-0\noffline: ECONNRESET\n' }, { exit: 1 }]
          : LISTENER.run({ start, stdin, argv }),
    },
    undefined,
    { agent: 'scribe' },
  )
  await simulation.until(() => simulation.hasEnded('s1'))
  await send(engine, 'two')
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.machine.records.get('t-1')).toEqual(['do it', 'two'])
})

test('a session that ends with a waiting message and no budget left gives the budget as reason', async () => {
  const { stage: simulation, engine } = await startSession(
    { run: () => [{ record: 't-1' }, { say: 'thread: t-1\nspent: 6\n' }, { wait: 100 }, { say: 'done: it\n' }] },
    undefined,
    { agent: 'scribe', supervision: { limits: { usd: 5, tokens: null, turns: null } } },
  )
  await send(engine, 'two')
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')?.phase).toMatchObject({
    outcome: 'stopped',
    reason: expect.stringContaining('budget of $5'),
  })
})

test('the engine does not confuse words that a person wrote into the thread with the next message', async () => {
  const { stage: simulation, engine } = await startSession(
    { run: ({ start, ...call }) => (start === 2 ? [{ die: 'SIGKILL' }] : LISTENER.run({ start, ...call })) },
    undefined,
    { agent: 'scribe' },
  )
  await simulation.until(() => simulation.hasEnded('s1'))
  simulation.machine.records.set('t-1', ['do it', 'by hand', 'again'])
  await send(engine, 'again')
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.machine.records.get('t-1')).toEqual(['do it', 'by hand', 'again', 'again'])
})

test('a session gets no more time by messages to itself', async () => {
  const { stage: simulation, engine } = await startSession(LISTENER, undefined, {
    agent: 'scribe',
    supervision: { maxTime: 1_500 },
  })
  const text = Buffer.from('go on')
  for (const key of ['a', 'b', 'c'])
    await engine.send(testSessionId('s1'), { key, summary: 'go on', text, by: 'scribe-s1' })
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')?.phase).toMatchObject({ outcome: 'stopped', trouble: 'time' })
  expect(simulation.machine.starts.length).toBeLessThan(4)
})

test('a session does not undo its stop by a message to itself', async () => {
  const slow = { ...LISTENER, onInterrupt: [{ wait: 1_000 }, { exit: 130 }] }
  const { stage: simulation, engine } = await startSession(slow, undefined, { agent: 'scribe' })
  await simulation.until(() => simulation.session('s1')?.phase.name === 'running')
  await engine.stop(testSessionId('s1'), { by: 'talker-boss' })
  await engine.send(testSessionId('s1'), { key: 'k', summary: 'go on', text: Buffer.from('go on'), by: 'scribe-s1' })
  await simulation.until(() => simulation.hasEnded('s1'))
  const reason = expect.stringMatching(/^stopped by the session talker-boss/) as unknown
  expect(simulation.session('s1')).toMatchObject({ phase: { outcome: 'stopped', reason }, stoppedBy: 'talker-boss' })
})
