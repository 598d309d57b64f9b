import type { Instant } from '../../lib/time.ts'
import type { Home } from '../os/home.ts'
import { reading } from './read.ts'

/** What became of the notices for one channel. */
export interface ChannelRecord {
  readonly channel: string
  readonly pending: number
  readonly nextAt: Instant | null
  readonly deliveredAt: Instant | null
  readonly failedAt: Instant | null
  readonly failure: string | null
}

/** A failure that something went well after is history. */
export function readDeliveries(home: Home): ChannelRecord[] {
  return reading(
    home,
    database =>
      database
        .prepare(
          `SELECT channel,
             SUM(state = 'pending') AS pending,
             MIN(CASE WHEN state = 'pending' THEN due END) AS nextAt,
             MAX(CASE WHEN state = 'delivered' THEN at END) AS deliveredAt,
             (SELECT f.at FROM deliveries f
               WHERE f.channel = d.channel AND f.state <> 'delivered' AND f.remark <> ''
               ORDER BY f.at DESC LIMIT 1) AS failedAt,
             (SELECT f.remark FROM deliveries f
               WHERE f.channel = d.channel AND f.state <> 'delivered' AND f.remark <> ''
               ORDER BY f.at DESC LIMIT 1) AS failure
           FROM deliveries d GROUP BY channel`,
        )
        .all() as ChannelRecord[],
    () => [],
  )
}
