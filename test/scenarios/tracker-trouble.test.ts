import { expect, test } from 'vitest'
import { Trouble } from '../../src/lib/trouble.ts'
import type { Stage } from '../../src/testkit/memory/stage.ts'
import { settle } from '../../src/testkit/memory/virtual-clock.ts'
import { accepted, MINUTE, withBeads } from './with-beads.ts'

const notesOf = (stage: Stage): string[] =>
  stage.events('s1').flatMap(event => (event.type === 'session.noted' ? [event.note] : []))

test('a tracker that fails is told of once, asked only now and then, and harms nothing', async () => {
  const stage = withBeads()
  stage.beads.obstacle = call => {
    throw new Trouble(`running bd ${call}`, 'exit code 1: database is locked')
  }
  await accepted(stage)
  await stage.until(() => stage.hasEnded('s1'))
  expect(notesOf(stage)).toEqual([
    'beads: running bd version: exit code 1: database is locked; the work continues without it',
  ])
  // Ten minutes: at the start, and after 30, 60, 120 and 240 seconds.
  expect(stage.beads.calls.length).toBeLessThanOrEqual(6)
  expect(stage.session('s1')?.phase).toMatchObject({ outcome: 'done' })
  expect(stage.troubles).toEqual([])
})

test('a tracker that hangs is given up after ten seconds, each time', async () => {
  const stage = withBeads()
  stage.beads.obstacle = () => new Promise(() => undefined)
  await accepted(stage)
  await stage.until(() => stage.hasEnded('s1'))
  expect(notesOf(stage)).toEqual([
    'beads: asking for its version: no answer within 10 s; the work continues without it',
  ])
})

test('what a tracker could not be told while it failed is told when it works again, long after the end', async () => {
  const stage = withBeads({ run: () => [{ say: 'plan: 1 done bd-1\ndone: it\n' }] })
  let isDown = true
  stage.beads.obstacle = () => {
    if (isDown) throw new Trouble('running bd', 'exit code 1')
  }
  await accepted(stage)
  await stage.until(() => stage.hasEnded('s1'))
  await stage.clock.pass(60 * MINUTE)
  expect(stage.beads.closed).toEqual([])
  isDown = false
  await stage.clock.pass(60 * MINUTE)
  expect(stage.beads.closed).toHaveLength(1)
  const asked = stage.beads.calls.length
  await stage.clock.pass(600 * MINUTE)
  expect(stage.beads.calls).toHaveLength(asked)
})

test('a list that can be read is written down even when nothing can be pushed', async () => {
  const stage = withBeads()
  stage.beads.obstacle = call => {
    if (call === 'sync') throw new Trouble('running bd dolt', 'exit code 1: could not reach the remote')
  }
  await accepted(stage)
  await stage.until(() => stage.hasEnded('s1'))
  expect(stage.beads.closed).toHaveLength(1)
  expect(stage.beads.kept.has('s1')).toBe(true)
  expect(notesOf(stage)).toHaveLength(1)
})

test('an issue that will not be closed is left to people after three tries, and keeps no other from it', async () => {
  const stage = withBeads({ run: () => [{ say: 'plan: 1 done bd-1; 2 done bd-2\ndone: it\n' }] })
  stage.beads.obstacle = call => {
    if (call === 'close bd-1') throw new Trouble('running bd close', 'exit code 1: bd-1 is blocked')
  }
  await accepted(stage)
  await stage.until(() => stage.hasEnded('s1'))
  await stage.clock.pass(600 * MINUTE)
  expect(stage.beads.closed).toEqual(['bd-2 finished by talker-task, oneshot session s1'])
  expect(stage.beads.calls.filter(call => call === 'close bd-1')).toHaveLength(3)
  expect(notesOf(stage)).toEqual([
    'beads: running bd close: exit code 1: bd-1 is blocked; the work continues without it',
  ])
})

test('a supervisor that is shut down waits for nobody who does not answer', async () => {
  const stage = withBeads()
  stage.beads.obstacle = () => new Promise(() => undefined)
  const engine = await accepted(stage)
  await settle()
  expect(stage.beads.calls).toEqual(['version'])
  await engine.shutDown()
  expect(notesOf(stage)).toEqual([])
})
