import { expect, test } from 'vitest'
import { makeDecision } from '../core/session/decision.ts'
import type { Session } from '../core/session/session-state.ts'
import { InMemoryDisk } from '../../testkit/in-memory/disk.ts'
import { InMemoryStore } from '../../testkit/in-memory/store.ts'
import { VirtualClock } from '../../testkit/in-memory/virtual-clock.ts'
import { storedSession } from '../../testkit/views/stored-sessions.ts'
import { removeExpired, settleEnded } from './housekeeping.ts'

const DAY = 86_400_000
const clock = new VirtualClock(100 * DAY)

function storeOf(...sessions: Session[]): InMemoryStore {
  const store = new InMemoryStore(new InMemoryDisk())
  for (const session of sessions) store.record(makeDecision(session, []))
  return store
}

const unsettled = (store: InMemoryStore): string[] => [...store.unsettled()].map(({ spec }) => spec.id)

test('settleEnded marks ended sessions without open work, so that the next supervisor does not read them', async () => {
  const many = Array.from({ length: 45 }, (_, n) => storedSession({ id: `e${n}`, endedAt: n }))
  const store = storeOf(...many, storedSession({ id: 'live' }), storedSession({ id: 'busy', endedAt: 1 }))
  await settleEnded({ store, clock, hasOpenWork: [() => false, ({ spec }) => spec.id === 'busy'] })
  expect(unsettled(store).sort()).toEqual(['busy', 'live'])
})

test('removeExpired removes settled sessions after the time that the user keeps them, the oldest first', async () => {
  const ended = [98, 5, 60].map(day => storedSession({ id: `day${day}`, endedAt: day * DAY }))
  const store = storeOf(...ended, storedSession({ id: 'live', createdAt: 0 }))
  const removed: string[] = []
  const remove = async (id: string): Promise<boolean> => {
    store.remove(id)
    return removed.push(id) > 0
  }
  const context = { store, clock, remove }
  expect(await removeExpired({ ...context, keepEnded: DAY }), 'they may have open work').toBe(0)
  await settleEnded({ store, clock, hasOpenWork: [] })
  expect(await removeExpired({ ...context, keepEnded: null })).toBe(0)
  expect(await removeExpired({ ...context, keepEnded: 30 * DAY })).toBe(2)
  expect(removed).toEqual(['day5', 'day60'])
  expect(store.count()).toEqual({ live: 1, ended: 1 })
})
