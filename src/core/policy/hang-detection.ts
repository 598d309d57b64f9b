import { type Duration, formatDuration, type Instant } from '../../lib/time.ts'

/** The observable activity of an attempt that gets no input. */
export interface ActivitySample {
  /** Bytes it has written so far. */
  readonly written: number
  /** The last write to the agent's own record of the conversation; null if no record is visible. */
  readonly recordedAt: Instant | null
  /** Processor time of the live processes. */
  readonly cpu: Duration
  readonly processes: readonly number[]
}

/** Idle programs wake up now and then: claude 2.1 and opencode 1.18 use 0.8 % of a core while they wait. */
const MIN_CPU_SHARE = 0.02

/** A running tool may be quiet for longer: somebody wanted it to run. */
const OPEN_TOOL_FACTOR = 4

/** Returns true if anything happened between two samples that are `elapsed` apart. */
export function hasProgressed(before: ActivitySample, now: ActivitySample, elapsed: Duration): boolean {
  if (now.written !== before.written || now.recordedAt !== before.recordedAt) return true
  const isSameTree = now.processes.join() === before.processes.join()
  return !isSameTree || now.cpu - before.cpu >= elapsed * MIN_CPU_SHARE
}

/** A tool call whose start the agent has reported, and not yet its end. */
export interface OpenToolCall {
  readonly tool: string
  readonly summary: string
}

/** Decides if an attempt that was quiet for so long is hung: returns the evidence, or null while it may be at work. */
export function detectHang(
  limit: Duration,
  seen: { readonly quiet: Duration; readonly vitals: ActivitySample; readonly tool: OpenToolCall | null },
): string | null {
  const { quiet, vitals: sample, tool } = seen
  if (quiet < silenceLimit(limit, tool)) return null
  const count = sample.processes.length
  const record = sample.recordedAt === null ? '' : ', nothing new in its conversation'
  const cpu = `no CPU in ${count} ${count === 1 ? 'process' : 'processes'}`
  const call = tool === null ? 'no open tool call' : `${`${tool.tool} ${tool.summary}`.trim()} has not ended`
  return `silent for ${formatDuration(quiet)}: no output${record}, ${cpu}, ${call}`
}

/** Returns the time that an attempt may be quiet. */
export function silenceLimit(limit: Duration, tool: OpenToolCall | null): Duration {
  return tool === null ? limit : limit * OPEN_TOOL_FACTOR
}
