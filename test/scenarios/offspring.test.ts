import { expect, test } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import type { Program } from '../../src/testkit/memory/scripted-process.ts'
import { specOf, type Stage } from '../../src/testkit/memory/stage.ts'
import { begin } from './begin.ts'

const FOR_EVER: Program = { run: () => [{ say: 'thread: t\n' }, { wait: Infinity }] }
const PARENT = { id: 's1', key: 'task 1' }

async function withChild(program = FOR_EVER): Promise<{ stage: Stage; engine: Engine }> {
  const { stage, engine } = await begin(program)
  const spec = specOf({ agent: 'talker', id: 's2', name: 'talker-child', parent: PARENT })
  await engine.create(spec, { prompt: Buffer.from('do a part'), env: {} })
  await stage.until(() => ['s1', 's2'].every(id => stage.session(id)?.phase.name === 'running'))
  return { stage, engine }
}

test('what a session has started is stopped with it', async () => {
  const { stage, engine } = await withChild()
  await engine.stop('s1')
  await stage.until(() => stage.hasEnded('s1') && stage.hasEnded('s2'))
  expect(stage.session('s2')?.phase).toMatchObject({ outcome: 'stopped' })
  expect(stage.machine.alive()).toEqual([])
})

test('what a session has started ends when that has ended by itself', async () => {
  const { stage } = await withChild({
    run: ({ stdin }) => (stdin.includes('part') ? [{ wait: Infinity }] : [{ wait: 60_000 }, { say: 'done: it\n' }]),
  })
  await stage.until(() => stage.hasEnded('s1') && stage.hasEnded('s2'))
  expect(stage.session('s1')?.phase).toMatchObject({ outcome: 'done' })
  expect(stage.session('s2')?.phase).toMatchObject({ outcome: 'stopped' })
})

test('a supervisor that comes later ends what the one before left behind', async () => {
  const { stage, engine: first } = await withChild()
  await first.shutDown()
  const record = JSON.parse(stage.disk.sessions.get('s1') ?? '') as { wanted: string }
  stage.disk.sessions.set('s1', JSON.stringify({ ...record, wanted: 'stop' }))
  const { engine } = stage.supervisor()
  await engine.start()
  await stage.until(() => stage.hasEnded('s2'))
  expect(stage.session('s2')?.phase).toMatchObject({ outcome: 'stopped' })
})
