import { expect, test } from 'vitest'
import { testSessionId } from '../../testkit/core/ids.ts'
import { startSession } from './start-session.ts'

test('the transcript has output in pieces, in long lines and without a line end once and whole', async () => {
  const long = 'x'.repeat(3_000_000)
  const { stage: simulation } = await startSession({
    run: () => [
      { say: 'one\ntw' },
      { wait: 10 },
      { say: 'o\n\n\nthr' },
      { wait: 10 },
      { say: `ee\n${long}` },
      { wait: 10 },
      { say: '\ndone: the last line has no end' },
    ],
  })
  await simulation.until(() => simulation.hasEnded('s1'))
  const said = simulation.transcript('s1').split('\n')
  expect(said.map(line => (line === long ? 'the long line' : line))).toEqual([
    'one',
    'two',
    'three',
    'the long line',
    'done: the last line has no end',
    '── done: the agent ended its turn, exit code 0',
    '',
  ])
})

test('the transcript has a character that arrives in two pieces whole', async () => {
  const bytes = Buffer.from('grüße 修\ndone: it\n')
  const { stage: simulation } = await startSession({
    run: () => [...bytes].flatMap(byte => [{ say: Uint8Array.of(byte) }, { wait: 1 }]),
  })
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.transcript('s1')).toContain('grüße 修\n')
})

test('the transcript has lines from before and after a change of supervisors once', async () => {
  const lines = Array.from({ length: 50 }, (_, i) => `line ${i}`)
  const { stage: simulation, engine } = await startSession({
    run: () => [...lines.flatMap(line => [{ say: `${line}\n` }, { wait: 10 }]), { say: 'done: it\n' }],
  })
  let current = engine
  for (const pause of [3, 101, 7, 200, 60]) {
    await simulation.clock.advance(pause)
    await current.shutDown()
    current = simulation.supervisor().engine
    await current.start()
  }
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.transcript('s1').split('\n').slice(0, 51)).toEqual([...lines, 'done: it'])
})

test('the transcript shows a line that the adapter cannot parse as it is, and the session continues', async () => {
  const { stage: simulation } = await startSession({
    run: () => [{ say: 'one\nriddle\ntwo\n' }, { wait: 10 }, { say: 'done: it\n' }],
  })
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.transcript('s1')).toContain('one\nriddle\ntwo\ndone: it\n')
})

test('a question blocks the session until somebody answers it', async () => {
  const { stage: simulation } = await startSession({
    run: () => [
      { say: 'ask: may I?\n' },
      { wait: 1_000 },
      { say: 'answer: yes\n' },
      { wait: 1_000 },
      { say: 'done:\n' },
    ],
  })
  await simulation.until(() => simulation.session('s1')?.phase.name === 'waiting')
  expect(simulation.session('s1')?.phase).toMatchObject({ question: 'may I?' })
  await simulation.until(() => simulation.session('s1')?.phase.name === 'running')
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.transcript('s1')).toContain('── waiting for you: may I?\n')
})

test('the engine skips a long line that killed a supervisor, records an event, and continues', async () => {
  const long = 'x'.repeat(100_000)
  const { stage: simulation } = await startSession(
    { run: () => [{ say: `one\n${long}\ntwo\ndone: it\n` }] },
    machine => void (machine.attempt({ sessionId: testSessionId('s1'), attempt: 1 }).stuckAt = 0),
  )
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.session('s1')?.phase).toMatchObject({ outcome: 'done' })
  const note = 'oneshot skipped 98 KB of output, because reading it took too long before'
  expect(simulation.events('s1')).toContainEqual(expect.objectContaining({ type: 'session.noted', note }))
  expect(simulation.transcript('s1')).toContain('one\ntwo\n')
})
