import { describeEvent } from '../../core/describe/event.ts'
import type { Event } from '../../core/session/events.ts'
import { formatBytes } from '../../lib/bytes.ts'
import { type Duration, formatDuration, type Instant, formatIso } from '../../lib/time.ts'
import type { HeartbeatStats } from '../process-stats.ts'
import { toLine } from './page-input.ts'

/** The facts of one line. */
export interface HeartbeatEntry {
  readonly at: Instant
  /** Its phase or outcome. */
  readonly state: string
  readonly stats: HeartbeatStats
  readonly event: Event | null
  /** The time without a heartbeat before this line, and its reason; null without a gap. */
  readonly gap: { readonly length: Duration; readonly reason: string } | null
}

/** Renders a line of HEARTBEAT, with the observed facts. */
export function renderHeartbeat({ at, state, stats, event, gap }: HeartbeatEntry): string {
  const parts = [
    `${formatIso(at)} ${state}`,
    ...(gap === null ? [] : [`after ${formatDuration(gap.length)} without a heartbeat: ${gap.reason}`]),
    stats.pid === null ? 'no process' : `pid ${stats.pid} ${stats.isAlive ? 'alive' : 'gone'}`,
    ...(stats.cpu === null ? [] : [`${(stats.cpu / 1000).toFixed(2)} s of CPU`]),
    stats.writtenAt === null
      ? 'no output'
      : `${formatBytes(stats.written)} of output, the last ${formatDuration(Math.max(0, at - stats.writtenAt))} ago`,
    ...(event === null ? [] : [toLine(describeEvent(event))]),
  ]
  return `${parts.join('; ')}\n`
}

/** Returns the time of the last line; null when it is no heartbeat. */
export function parseLastHeartbeat(text: string): Instant | null {
  const at = Date.parse(/(?<![^\n])[^\n]{0,200}?(\d{4}-\d\d-\d\dT[\d:.]{1,20}Z) [^\n]*\n$/.exec(text)?.[1] ?? '')
  return Number.isNaN(at) ? null : at
}
