import { expect, test } from 'vitest'
import type { Program } from '../../src/testkit/memory/scripted-process.ts'
import type { Stage } from '../../src/testkit/memory/stage.ts'
import { begin } from './begin.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Its first life goes on for ever; the second finishes. */
const LONG: Program = {
  run: ({ start }) => (start === 1 ? [{ say: 'thread: t-1\n' }, { wait: Infinity }] : [{ say: 'done: it\n' }]),
}

function threaded(stage: Stage): () => boolean {
  return () => stage.session('s1')?.thread.id === 't-1'
}

test('what is held stands still until it is resumed, and its time with it', async () => {
  const { stage, engine } = await begin(LONG, undefined, { maxTime: HOUR })
  await stage.until(threaded(stage))
  await engine.hold('s1')
  await stage.until(() => stage.session('s1')?.phase.name === 'blocked')
  expect(stage.session('s1')?.phase).toMatchObject({ trouble: 'held', question: 'held by you', isIdle: true })
  expect(stage.machine.alive()).toEqual([])
  await stage.clock.pass(10 * HOUR)
  expect(stage.session('s1')?.phase.name).toBe('blocked')
  await engine.send('s1', { key: 'k', gist: 'and this', text: Buffer.from('and this') })
  await stage.clock.pass(HOUR)
  expect(stage.machine.starts, 'a message waits with it').toEqual(['s1.1'])
  await engine.resume('s1')
  await stage.until(() => stage.hasEnded('s1'))
  expect(stage.session('s1')).toMatchObject({ thread: { id: 't-1' }, phase: { outcome: 'done' } })
})

test('what rests can be held, and what is held can be stopped', async () => {
  const { stage, engine } = await begin({ run: () => [{ say: `limit: ${Date.UTC(2026, 0, 1, 9)}\n` }, { exit: 1 }] })
  await stage.until(() => stage.session('s1')?.phase.name === 'resting')
  await engine.hold('s1')
  await stage.clock.pass(DAY)
  expect(stage.session('s1')?.phase).toMatchObject({ name: 'blocked', trouble: 'held' })
  await engine.stop('s1')
  expect(stage.session('s1')?.phase).toMatchObject({ name: 'ended', outcome: 'stopped' })
})

test('after a reboot the work continues in its thread, and no restart is used up by it', async () => {
  const { stage, engine: first } = await begin(LONG)
  await stage.until(threaded(stage))
  await first.shutDown()
  stage.machine.reboot()
  await stage.clock.pass(HOUR)
  const { engine } = stage.supervisor()
  await engine.start()
  await stage.until(() => stage.hasEnded('s1'))
  expect(stage.session('s1')).toMatchObject({ attempt: 2, restartCount: 0, phase: { outcome: 'done' } })
  expect(stage.events('s1').find(event => event.type === 'session.resting')).toMatchObject({
    cause: 'reboot',
    trouble: 'reboot',
    reason: 'the machine was restarted',
  })
})

test('after a reboot a command is not started twice', async () => {
  const { stage, engine: first } = await begin({ run: () => [{ wait: Infinity }] }, undefined, { agent: 'mute' })
  await stage.until(() => stage.session('s1')?.phase.name === 'running')
  await first.shutDown()
  stage.machine.reboot()
  const { engine } = stage.supervisor()
  await engine.start()
  await stage.until(() => stage.hasEnded('s1'))
  expect(stage.session('s1')?.phase).toMatchObject({ outcome: 'failed', reason: 'the machine was restarted' })
})

test('what was at work long before the reboot, or was due long ago, is not gone on with unasked', async () => {
  const patience = { silence: null, limit: null, absence: 3 * DAY }
  const working = await begin(LONG, undefined, { patience })
  await working.stage.until(threaded(working.stage))
  await working.engine.shutDown()
  working.stage.machine.reboot()
  await working.stage.clock.pass(17 * DAY)
  await working.stage.supervisor().engine.start()
  await working.stage.until(() => working.stage.session('s1')?.phase.name === 'blocked')
  expect(working.stage.session('s1')?.phase).toMatchObject({
    trouble: 'absence',
    question: 'the machine was restarted, and it last worked 17 d ago',
  })
  const reset = Date.UTC(2026, 0, 1, 5)
  const resting = await begin({ run: () => [{ say: `limit: ${reset}\n` }, { exit: 1 }] }, undefined, { patience })
  await resting.stage.until(() => resting.stage.session('s1')?.phase.name === 'resting')
  await resting.engine.shutDown()
  await resting.stage.clock.pass(17 * DAY)
  await resting.stage.supervisor().engine.start()
  await resting.stage.until(() => resting.stage.session('s1')?.phase.name === 'blocked')
  expect(resting.stage.session('s1')?.phase).toMatchObject({ trouble: 'absence' })
})

test('in safe mode only what is alive goes on', async () => {
  const { stage, engine } = await begin(LONG)
  await stage.until(threaded(stage))
  await engine.shutDown()
  const careful = stage.supervisor()
  await careful.engine.start({ isHeld: true })
  expect(stage.session('s1')?.phase.name, 'it lives').toBe('running')
  await careful.engine.shutDown()
  stage.machine.reboot()
  const later = stage.supervisor()
  await later.engine.start({ isHeld: true })
  await stage.until(() => stage.session('s1')?.phase.name === 'blocked')
  expect(stage.session('s1')?.phase).toMatchObject({ trouble: 'held' })
  await later.engine.resume('s1')
  await stage.until(() => stage.hasEnded('s1'))
  expect(stage.session('s1')).toMatchObject({ attempt: 2, phase: { outcome: 'done' } })
})

test('a session whose folder is gone waits for it to come back', async () => {
  const crashing: Program = {
    run: ({ start }) => (start === 1 ? [{ say: 'thread: t-1\n' }, { wait: 10 }, { exit: 1 }] : [{ say: 'done: it\n' }]),
  }
  const { stage, engine } = await begin(crashing, undefined, { cwd: '/project' })
  await stage.until(threaded(stage))
  stage.machine.lostFolders.add('/project')
  await stage.until(() => stage.session('s1')?.phase.name === 'blocked')
  expect(stage.session('s1')?.phase).toMatchObject({ trouble: 'folder', question: 'its folder /project is gone' })
  stage.machine.lostFolders.clear()
  await engine.resume('s1')
  await stage.until(() => stage.hasEnded('s1'))
  expect(stage.session('s1')?.phase).toMatchObject({ outcome: 'done' })
})
