import { expect, test } from 'vitest'
import { testSessionId } from '../../testkit/core/ids.ts'
import type { RunWhileLive } from '../ports/runtime.ts'
import type { EngineContext } from './context.ts'
import { PeriodicCheck } from './periodic-check.ts'

test('a repair gives no pane to a session that was stopped meanwhile, although nobody recorded its exit', async () => {
  const running = {
    spec: { id: 's1', mode: 'headless' },
    phase: { name: 'running' },
    attempt: { number: 1, process: { pid: 1 }, exit: null },
  }
  const restored: string[] = []
  const repair = async (refs: readonly { sessionId: string }[], whileLive: RunWhileLive): Promise<void> => {
    for (const { sessionId } of refs)
      await whileLive(testSessionId(sessionId), async () => void restored.push(sessionId))
  }
  const check = (phase: string): Promise<void> => {
    const store = { live: () => [running], load: () => ({ ...running, phase: { name: phase } }) }
    const context = { store, runtime: { repair }, agents: () => ({}) } as unknown as EngineContext
    return new PeriodicCheck(context, {
      holdsEpoch: () => true,
      runExclusively: (_, action) => action(),
      dispatch: async () => undefined,
    }).repair()
  }
  await check('ended')
  expect(restored).toEqual([])
  await check('running')
  expect(restored).toEqual(['s1'])
})
