import { describeEvent } from '../../core/describe-event.ts'
import type { Event } from '../../core/events.ts'
import { formatBytes } from '../../lib/bytes.ts'
import { type Duration, formatDuration, type Instant, iso } from '../../lib/time.ts'
import type { Pulse } from '../pulse.ts'
import { inLine } from './material.ts'

/** What one line tells. */
export interface Beat {
  readonly at: Instant
  /** Its phase or outcome. */
  readonly state: string
  readonly pulse: Pulse
  readonly event: Event | null
  /** How long there was no line before this one although there should have been, and why. */
  readonly gap: { readonly length: Duration; readonly reason: string } | null
}

/** A line of HEARTBEAT: not only that somebody looked, but what was seen. */
export function heartbeatLine({ at, state, pulse, event, gap }: Beat): string {
  const parts = [
    `${iso(at)} ${state}`,
    ...(gap === null ? [] : [`after ${formatDuration(gap.length)} without a heartbeat: ${gap.reason}`]),
    pulse.pid === null ? 'no process' : `pid ${pulse.pid} ${pulse.isAlive ? 'alive' : 'gone'}`,
    ...(pulse.cpu === null ? [] : [`${(pulse.cpu / 1000).toFixed(2)} s of CPU`]),
    pulse.writtenAt === null
      ? 'no output'
      : `${formatBytes(pulse.written)} of output, the last ${formatDuration(Math.max(0, at - pulse.writtenAt))} ago`,
    ...(event === null ? [] : [inLine(describeEvent(event))]),
  ]
  return `${parts.join('; ')}\n`
}

/** When the last of these lines was written; null when it is none. */
export function lastBeatIn(text: string): Instant | null {
  const at = Date.parse(/(?<![^\n])[^\n]{0,200}?(\d{4}-\d\d-\d\dT[\d:.]{1,20}Z) [^\n]*\n$/.exec(text)?.[1] ?? '')
  return Number.isNaN(at) ? null : at
}
