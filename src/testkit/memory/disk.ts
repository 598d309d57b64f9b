import type { Instant } from '../../lib/time.ts'
import type { Delivered } from '../../ports/notice-box.ts'

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
  state: 'pending' | Delivered['state']
  remark: string
}

/** What outlives a supervisor. Everything lies in it as text, as on a real disk. */
export class Disk {
  epoch = 0
  seq = 0
  readonly sessions = new Map<string, string>()
  events: { readonly seq: number; readonly sessionId: string; readonly body: string }[] = []
  outbox: { readonly seq: number; readonly sessionId: string; readonly body: string }[] = []
  notices: NoticeRow[] = []
  deliveries: DeliveryRow[] = []
  hooks: { readonly id: string; readonly body: string }[] = []
}
