import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSession } from '../core/session/create.ts'
import type { Notice } from '../core/notify/notice.ts'
import { makeDecision } from '../core/session/decision.ts'
import { makeSpec } from '../../testkit/in-memory/simulation.ts'
import { type TempHome, tempHome } from '../../testkit/system/temp-home.ts'
import { openStore, type SqliteStore } from '../world/store/sqlite-store.ts'
import { toChannelViews } from './channel-views.ts'

const AT = Date.UTC(2026, 0, 1)

let temp: TempHome
let store: SqliteStore
beforeEach(() => {
  temp = tempHome()
  store = openStore(temp.home.database)
})
afterEach(async () => {
  store.close()
  await temp.assertNoLeaks()
})

const PHONE = {
  name: 'phone',
  type: 'slack',
  events: ['done'],
  given: { url: 'https://hooks.test/s3cret' },
} as const

function recordNotice(at: number): void {
  const { session } = createSession(makeSpec({ agent: 'mute' }), { hasPrompt: false })
  const notice = { id: `s1-${at}-done`, kind: 'done', at, session: { id: 's1' }, text: 's1 is done' } as Notice
  store.record(makeDecision(session, []), { notices: [notice], hooks: [] })
  store.notifications.route(notice.id, ['phone'], at)
}

const keys = (): string[] => store.notifications.pendingDeliveries().map(({ key }) => key)

test('the view of a channel shows its waiting notices and its last failure, until a delivery succeeds', () => {
  const view = () => toChannelViews([PHONE], temp.home)[0]
  const fresh = { pending: 0, nextAt: null, deliveredAt: null, failedAt: null, failure: null }
  const settings = { url: 'https://hooks.test/‹hidden›' }
  expect(view()).toEqual({ name: 'phone', type: 'slack', events: ['done'], settings, ...fresh })
  recordNotice(AT)
  store.notifications.postpone('phone', AT + 9_000, { keys: keys(), at: AT + 4_000, remark: 'refused' })
  recordNotice(AT + 5_000)
  expect(view()).toMatchObject({
    pending: 2,
    nextAt: '2026-01-01T00:00:05.000Z',
    deliveredAt: null,
    failedAt: '2026-01-01T00:00:04.000Z',
    failure: 'refused',
  })
  store.notifications.settleDeliveries(keys(), { at: AT + 10_000, state: 'delivered', remark: 'heard' })
  expect(view()).toMatchObject({ ...fresh, deliveredAt: '2026-01-01T00:00:10.000Z' })
})
