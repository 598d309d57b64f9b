import type { SessionId } from '../../src/core/session/session-id-and-name.ts'
import type { Instant } from '../../src/lib/time.ts'
import type { DeliveryResult } from '../../src/ports/notifications.ts'

export interface NoticeRow {
  readonly id: string
  readonly body: string
  isAddressed: boolean
}

export interface DeliveryRow {
  readonly key: string
  readonly noticeId: string
  readonly channel: string
  due: Instant
  tries: number
  state: 'pending' | DeliveryResult['state']
  remark: string
}

/** The data that outlives a supervisor. It is stored as text, as on a real disk. */
export class InMemoryDisk {
  epoch = 0
  seq = 0
  readonly sessions = new Map<string, string>()
  /** The ended sessions without open work. */
  readonly settled = new Set<string>()
  events: { readonly seq: number; readonly sessionId: string; readonly body: string }[] = []
  outbox: { readonly seq: number; readonly sessionId: SessionId; readonly body: string }[] = []
  notices: NoticeRow[] = []
  deliveries: DeliveryRow[] = []
  hooks: { readonly id: string; readonly body: string }[] = []
  /** The repeated trouble of each session. */
  readonly troubles = new Map<string, string>()
}
