import { expect, test } from 'vitest'
import { testSessionId, testThreadId } from '../../../testkit/core/ids.ts'
import { createSession } from '../../core/session/create.ts'
import { decide } from '../../core/session/decision-table.ts'
import { DEFAULT_TIMINGS } from '../../core/session/supervisor-timings.ts'
import type { Session } from '../../core/session/session-state.ts'
import type { Signal } from '../../core/session/signals.ts'
import { InMemoryCheckpoints, InMemoryRepository } from '../../../testkit/in-memory/checkpoints.ts'
import { scriptedAgents } from '../../../testkit/in-memory/scripted-agents.ts'
import { makeSpec } from '../../../testkit/in-memory/simulation.ts'
import { VirtualClock } from '../../../testkit/in-memory/virtual-clock.ts'
import { Checkpointer } from './checkpointer.ts'
import type { EngineContext } from '../context.ts'

test('a request that arrives before the session has recorded the last checkpoint does not save the same tree twice', async () => {
  const clock = new VirtualClock()
  const repository = new InMemoryRepository()
  let session: Session = createSession(makeSpec({ agent: 'talker' }), { hasPrompt: true }).session
  const runtime = { readEnvironment: () => ({}), readMessage: () => new Uint8Array(), transcriptTail: () => '' }
  const store = { load: () => session, assertEpoch: () => undefined }
  const checkpoints = new InMemoryCheckpoints({ repository })
  const context = {
    clock,
    runtime,
    store,
    checkpoints,
    agents: scriptedAgents(),
    timings: DEFAULT_TIMINGS,
  } as unknown as EngineContext
  const reported: Signal[] = []
  let record: () => void = () => undefined
  const isRecorded = new Promise<void>(resolve => (record = resolve))
  const checkpointer = new Checkpointer(
    context,
    async (_, signal) => {
      reported.push(signal)
      await isRecorded
      session = decide(session, signal, DEFAULT_TIMINGS).session
    },
    () => undefined,
  )
  session = { ...session, saved: { ...session.saved, wanted: { trigger: 'end', at: clock.now() } } }
  repository.tree = 'work'
  const last = checkpointer.saveNow(testSessionId('s1'), 'end')
  await expect.poll(() => reported.length).toBe(1)
  // A part of the checkpoint record has changed since.
  session = { ...session, thread: { ...session.thread, id: testThreadId('t-1') } }
  const asked = checkpointer.saveNow(testSessionId('s1'), 'asked')
  await expect.poll(() => reported.length).toBe(2)
  record()
  expect((await last).isNew).toBe(true)
  expect(await asked).toMatchObject({ isNew: false, checkpoint: { number: 1 } })
  expect(repository.of('s1')).toHaveLength(1)
  expect(reported.map(({ type }) => type)).toEqual(['checkpoint.saved', 'checkpoint.unneeded'])
  expect(session.saved).toMatchObject({ last: { number: 1 }, wanted: null })
})
