import { expect, test } from 'vitest'
import { testSessionId } from '../../testkit/core/ids.ts'
import type { ProcessStep } from '../../testkit/in-memory/scripted-process.ts'
import { startSession } from './start-session.ts'

const DONE: readonly ProcessStep[] = [{ say: 'done: it\n' }]

/** The first lives fail in turn, each with these words; the one after them succeeds. */
async function failing(...words: string[]) {
  const begun = await startSession(
    {
      run: ({ start, stdin }) => {
        const word = words[start - 1]
        const thread = stdin.includes('You take over') ? 't-2' : 't-1'
        const told: ProcessStep = { say: `thread: ${thread}\ntold: ${stdin.split('\n')[0]}\n` }
        if (word?.startsWith('lost')) return [{ say: `${word}\n` }, { exit: 1 }]
        return [{ record: thread }, told, ...(word === undefined ? DONE : [{ say: `${word}\n` }, { exit: 1 }])]
      },
    },
    undefined,
    { agent: 'scribe', supervision: { limits: { usd: 5, tokens: null, turns: null } } },
  )
  return { ...begun, session: () => begun.stage.session('s1') }
}

test('a session waits until a usage limit ends, and does not count it as a crash', async () => {
  const reset = Date.UTC(2026, 0, 1, 2)
  const { stage: simulation, session } = await failing(`limit: ${reset}`)
  await simulation.until(() => session()?.phase.name === 'resting')
  expect(session()?.phase).toMatchObject({
    cause: 'limit',
    reason: 'usage limit: limit reached',
    until: reset + 1_000,
  })
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(session()).toMatchObject({ phase: { outcome: 'done' }, restarts: [] })
})

test('the time limit of a session does not count the wait for a usage limit', async () => {
  const reset = Date.UTC(2026, 0, 1, 9)
  const { stage: simulation } = await startSession(
    {
      run: ({ start }) =>
        start === 1 ? [{ say: `thread: t-1\nlimit: ${reset}\n` }, { exit: 1 }] : [{ wait: Infinity }],
    },
    undefined,
    { supervision: { maxTime: 3_600_000 } },
  )
  await simulation.until(() => simulation.session('s1')?.attempt.number === 2)
  expect(simulation.clock.now()).toBeGreaterThan(reset)
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')?.phase).toMatchObject({
    reason: expect.stringContaining('time limit of 1 h was reached'),
  })
  expect(simulation.clock.now()).toBeGreaterThan(reset + 3_500_000)
})

test('a session without network retries with growing pauses and never gives up', async () => {
  const { stage: simulation, session } = await failing(...Array.from({ length: 12 }, () => 'offline: ECONNREFUSED'))
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(session()).toMatchObject({ phase: { outcome: 'done' }, restarts: [], outages: 12 })
  const waits = simulation
    .events('s1')
    .flatMap(event => (event.type === 'session.resting' ? [event.until - event.at] : []))
  expect(waits.slice(0, 4)).toEqual([5_000, 10_000, 20_000, 40_000])
  expect(Math.max(...waits)).toBe(300_000)
})

test('a session without a login waits until its user resumes it', async () => {
  const { stage: simulation, engine, session } = await failing('login: no key')
  await simulation.until(() => session()?.phase.name === 'blocked')
  expect(session()?.phase).toMatchObject({ question: 'the agent is not logged in: no key' })
  expect(simulation.machine.alive()).toEqual([])
  await engine.runPeriodicCheck()
  await simulation.clock.advance(3_600_000)
  expect(session()?.phase.name).toBe('blocked')
  await engine.resume(testSessionId('s1'))
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(session()?.phase).toMatchObject({ outcome: 'done' })
})

test('a blocked session without a process stops at once', async () => {
  const { stage: simulation, engine, session } = await failing('login: no key')
  await simulation.until(() => session()?.phase.name === 'blocked')
  await engine.stop(testSessionId('s1'))
  expect(session()?.phase).toMatchObject({ name: 'ended', outcome: 'stopped' })
})

test('a new thread with a digest follows a thread that has grown too long', async () => {
  const { stage: simulation, session } = await failing('full: too long')
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(session()).toMatchObject({ phase: { outcome: 'done' }, thread: { id: 't-2', number: 2, needsDigest: false } })
  const digest = simulation.machine.records.get('t-2')?.[0]
  for (const words of ['too long', 'The task:\n\ndo it', 'told: do it', 'git status']) expect(digest).toContain(words)
})

test('the supervisor gives up a thread only after two failed resumes in a row', async () => {
  const { stage: simulation, session } = await failing(
    'offline: for once',
    'lost: not found',
    'offline: again',
    'lost:',
    'lost:',
  )
  await simulation.until(() => session()?.attempt.number === 5)
  expect(session()?.thread.number).toBe(1)
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(session()).toMatchObject({ phase: { outcome: 'done' }, thread: { number: 2 } })
})

test('the supervisor stops a session that spends beyond its budget', async () => {
  const { stage: simulation } = await startSession(
    { run: () => [{ say: 'thread: t-1\nspent: 3\ntool: a\nspent: 3\ntool: b\n' }, { wait: Infinity }] },
    undefined,
    { supervision: { limits: { usd: 5, tokens: null, turns: null } } },
  )
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')).toMatchObject({
    phase: { outcome: 'stopped', reason: expect.stringContaining('the budget of $5 was reached: $6.00 were spent') },
  })
})

test('a session that ends just beyond its budget is done', async () => {
  const { stage: simulation } = await startSession(
    { run: () => [{ say: 'thread: t-1\nspent: 6\ndone: it\n' }] },
    undefined,
    { supervision: { limits: { usd: 5, tokens: null, turns: null } } },
  )
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')?.phase).toMatchObject({ outcome: 'done' })
})

test('a woken session gets its whole budget again', async () => {
  const { stage: simulation, engine } = await startSession(
    { run: () => [{ say: 'thread: t-1\nspent: 3\ntool: a\nspent: 3\ndone: it\n' }] },
    undefined,
    { supervision: { limits: { usd: 7, tokens: null, turns: null } } },
  )
  await simulation.until(() => simulation.hasEnded('s1'))
  await engine.send(testSessionId('s1'), { key: 'a', summary: 'more', text: Buffer.from('more') })
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')).toMatchObject({
    phase: { outcome: 'done' },
    spending: { waived: { usd: 6 } },
  })
})
