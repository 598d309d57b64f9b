import { describeChannel } from '../api/config/resolve-channel-address.ts'
import type { ChannelEntry } from '../api/config/channels.ts'
import type { ChannelView } from '../api/contract/responses.ts'
import { type Instant, formatIso } from '../lib/time.ts'
import { type Home, homeExists } from '../state/home.ts'
import { readDeliveries } from '../world/store/reader.ts'

/** Returns the configured channels with the state of their deliveries. */
export function toChannelViews(entries: readonly ChannelEntry[], home: Home): ChannelView[] {
  const records = homeExists(home) ? readDeliveries(home) : []
  return entries.map(entry => {
    const record = records.find(({ channel }) => channel === entry.name)
    const isOver = (record?.deliveredAt ?? 0) > (record?.failedAt ?? 0)
    return {
      name: entry.name,
      type: entry.type,
      events: entry.events,
      settings: describeChannel(entry),
      pending: record?.pending ?? 0,
      nextAt: isoOrNull(record?.nextAt),
      deliveredAt: isoOrNull(record?.deliveredAt),
      failedAt: isOver ? null : isoOrNull(record?.failedAt),
      failure: isOver ? null : (record?.failure ?? null),
    }
  })
}

function isoOrNull(at: Instant | null | undefined): string | null {
  return at === null || at === undefined ? null : formatIso(at)
}
