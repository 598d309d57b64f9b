import { expect, test } from 'vitest'
import { Trouble } from '../../src/lib/errors.ts'
import type { Simulation } from '../../testkit/in-memory/simulation.ts'
import { flushPromises } from '../../testkit/in-memory/virtual-clock.ts'
import { startAcceptedSession, MINUTE, openBeadsSimulation } from './beads-simulation.ts'

const notesOf = (simulation: Simulation): string[] =>
  simulation.events('s1').flatMap(event => (event.type === 'session.noted' ? [event.note] : []))

test('the issue sync reports a failing tracker once, asks it rarely, and harms no work', async () => {
  const simulation = openBeadsSimulation()
  simulation.beads.obstacle = call => {
    throw new Trouble(`running bd ${call}`, 'exit code 1: database is locked')
  }
  await startAcceptedSession(simulation)
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(notesOf(simulation)).toEqual([
    'beads: running bd version: exit code 1: database is locked; the work continues without it',
  ])
  // Ten minutes: at the start, and after 30, 60, 120 and 240 seconds.
  expect(simulation.beads.calls.length).toBeLessThanOrEqual(6)
  expect(simulation.session('s1')?.phase).toMatchObject({ outcome: 'done' })
  expect(simulation.troubles).toEqual([])
})

test('the issue sync gives up a tracker that hangs after ten seconds each time', async () => {
  const simulation = openBeadsSimulation()
  simulation.beads.obstacle = () => new Promise(() => undefined)
  await startAcceptedSession(simulation)
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(notesOf(simulation)).toEqual([
    'beads: asking for its version: no answer within 10 s; the work continues without it',
  ])
})

test('the issue sync closes an issue when a failed tracker works again, long after the end of the session', async () => {
  const simulation = openBeadsSimulation({ run: () => [{ say: 'plan: 1 done bd-1\ndone: it\n' }] })
  let isDown = true
  simulation.beads.obstacle = () => {
    if (isDown) throw new Trouble('running bd', 'exit code 1')
  }
  await startAcceptedSession(simulation)
  await simulation.until(() => simulation.hasEnded('s1'))
  await simulation.clock.advance(60 * MINUTE)
  expect(simulation.beads.closed).toEqual([])
  isDown = false
  await simulation.clock.advance(60 * MINUTE)
  expect(simulation.beads.closed).toHaveLength(1)
  const asked = simulation.beads.calls.length
  await simulation.clock.advance(600 * MINUTE)
  expect(simulation.beads.calls).toHaveLength(asked)
})

test('the issue sync records a list that it can read even if it can push nothing', async () => {
  const simulation = openBeadsSimulation()
  simulation.beads.obstacle = call => {
    if (call === 'sync') throw new Trouble('running bd dolt', 'exit code 1: could not reach the remote')
  }
  await startAcceptedSession(simulation)
  await simulation.until(() => simulation.hasEnded('s1'))
  expect(simulation.beads.closed).toHaveLength(1)
  expect(simulation.beads.snapshots.has('s1')).toBe(true)
  expect(notesOf(simulation)).toHaveLength(1)
})

test('the issue sync leaves an issue that cannot be closed to people after three tries, and closes the others', async () => {
  const simulation = openBeadsSimulation({ run: () => [{ say: 'plan: 1 done bd-1; 2 done bd-2\ndone: it\n' }] })
  simulation.beads.obstacle = call => {
    if (call === 'close bd-1') throw new Trouble('running bd close', 'exit code 1: bd-1 is blocked')
  }
  await startAcceptedSession(simulation)
  await simulation.until(() => simulation.hasEnded('s1'))
  await simulation.clock.advance(600 * MINUTE)
  expect(simulation.beads.closed).toEqual(['bd-2 finished by talker-task, oneshot session s1'])
  expect(simulation.beads.calls.filter(call => call === 'close bd-1')).toHaveLength(3)
  expect(notesOf(simulation)).toEqual([
    'beads: running bd close: exit code 1: bd-1 is blocked; the work continues without it',
  ])
})

test('a supervisor that shuts down does not wait for a tracker that does not answer', async () => {
  const simulation = openBeadsSimulation()
  simulation.beads.obstacle = () => new Promise(() => undefined)
  const engine = await startAcceptedSession(simulation)
  await flushPromises()
  expect(simulation.beads.calls).toEqual(['version'])
  await engine.shutDown()
  expect(notesOf(simulation)).toEqual([])
})
