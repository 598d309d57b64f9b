import { expect, test } from 'vitest'
import { create } from '../core/create.ts'
import { decide } from '../core/decide.ts'
import { DEFAULT_RULES } from '../core/rules.ts'
import type { Session } from '../core/session.ts'
import type { Signal } from '../core/signals.ts'
import { MemoryCheckpoints, MemoryRepository } from '../testkit/memory/memory-checkpoints.ts'
import { scriptedAgents } from '../testkit/memory/scripted-agents.ts'
import { specOf } from '../testkit/memory/stage.ts'
import { VirtualClock } from '../testkit/memory/virtual-clock.ts'
import { Safekeeper } from './safekeeper.ts'
import type { World } from './world.ts'

test('a checkpoint that is asked for while the last one is being recorded does not save the same tree twice', async () => {
  const clock = new VirtualClock()
  const repository = new MemoryRepository()
  let session: Session = create(specOf({ agent: 'talker' }), { hasPrompt: true }).session
  const work = { environment: () => ({}), message: () => new Uint8Array(), lastWords: () => '' }
  const store = { load: () => session, assertEpoch: () => undefined }
  const checkpoints = new MemoryCheckpoints({ repository })
  const world = { clock, work, store, checkpoints, agents: scriptedAgents(), rules: DEFAULT_RULES } as unknown as World
  const reported: Signal[] = []
  let record: () => void = () => undefined
  const isRecorded = new Promise<void>(resolve => (record = resolve))
  const keeper = new Safekeeper(
    world,
    async (_, signal) => {
      reported.push(signal)
      await isRecorded
      session = decide(session, signal, DEFAULT_RULES).session
    },
    () => undefined,
  )
  session = { ...session, saved: { ...session.saved, wanted: { trigger: 'end', at: clock.now() } } }
  repository.tree = 'work'
  const last = keeper.now('s1', 'end')
  await expect.poll(() => reported.length).toBe(1)
  // Something that is written down with a checkpoint has changed since.
  session = { ...session, thread: { ...session.thread, id: 't-1' } }
  const asked = keeper.now('s1', 'asked')
  await expect.poll(() => reported.length).toBe(2)
  record()
  expect((await last).isNew).toBe(true)
  expect(await asked).toMatchObject({ isNew: false, checkpoint: { number: 1 } })
  expect(repository.of('s1')).toHaveLength(1)
  expect(reported.map(({ type }) => type)).toEqual(['checkpoint.saved', 'checkpoint.unneeded'])
  expect(session.saved).toMatchObject({ last: { number: 1 }, wanted: null })
})
