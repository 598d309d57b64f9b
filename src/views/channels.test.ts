import { afterEach, beforeEach, expect, test } from 'vitest'
import { create } from '../core/create.ts'
import type { Notice } from '../core/notices.ts'
import { step } from '../core/step.ts'
import { specOf } from '../testkit/memory/stage.ts'
import { type TempHome, tempHome } from '../testkit/real/temp-home.ts'
import { openStore, type SqliteStore } from '../world/store/sqlite-store.ts'
import { channelViews } from './channels.ts'

const AT = Date.UTC(2026, 0, 1)

let temp: TempHome
let store: SqliteStore
beforeEach(() => {
  temp = tempHome()
  store = openStore(temp.home.database)
})
afterEach(async () => {
  store.close()
  await temp.noLeaks()
})

const PHONE = {
  name: 'phone',
  type: 'slack',
  events: ['done'],
  given: { url: 'https://hooks.test/s3cret' },
} as const

function tell(at: number): void {
  const { session } = create(specOf({ agent: 'mute' }), { hasPrompt: false })
  const notice = { id: `s1-${at}-done`, kind: 'done', at, session: { id: 's1' } } as Notice
  store.record(step(session, []), { notices: [notice], hooks: [] })
  store.notices.address(notice.id, ['phone'], at)
}

const keys = (): string[] => store.notices.pending().map(({ key }) => key)

test('a channel is told with what waits for it and what failed, until something goes well', () => {
  const view = () => channelViews([PHONE], temp.home)[0]
  const fresh = { pending: 0, nextAt: null, deliveredAt: null, failedAt: null, failure: null }
  const settings = { url: 'https://hooks.test/‹hidden›' }
  expect(view()).toEqual({ name: 'phone', type: 'slack', events: ['done'], settings, ...fresh })
  tell(AT)
  store.notices.postpone('phone', AT + 9_000, { keys: keys(), at: AT + 4_000, remark: 'refused' })
  tell(AT + 5_000)
  expect(view()).toMatchObject({
    pending: 2,
    nextAt: '2026-01-01T00:00:05.000Z',
    deliveredAt: null,
    failedAt: '2026-01-01T00:00:04.000Z',
    failure: 'refused',
  })
  store.notices.settleDeliveries(keys(), { at: AT + 10_000, state: 'delivered', remark: 'heard' })
  expect(view()).toMatchObject({ ...fresh, deliveredAt: '2026-01-01T00:00:10.000Z' })
})
