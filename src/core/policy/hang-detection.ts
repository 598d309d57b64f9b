import { type Duration, formatDuration, type Instant } from '../../lib/time.ts'

/** What can be seen of an attempt that is pushed by nobody. */
export interface ActivitySample {
  /** Bytes it has written so far. */
  readonly written: number
  /** When its own record of the conversation was last written; null when there is none to see. */
  readonly recordedAt: Instant | null
  /** Processor time that its processes have used, those that live now. */
  readonly cpu: Duration
  readonly processes: readonly number[]
}

/** Idle programs wake up now and then: claude 2.1 and opencode 1.18 use 0.8 % of a core while they wait. */
const MIN_CPU_SHARE = 0.02

/** A tool that runs may be quiet for longer: somebody wanted it to run. */
const OPEN_TOOL_FACTOR = 4

/** Whether something happened between two looks that lie `elapsed` apart. */
export function hasProgressed(before: ActivitySample, now: ActivitySample, elapsed: Duration): boolean {
  if (now.written !== before.written || now.recordedAt !== before.recordedAt) return true
  const isSameTree = now.processes.join() === before.processes.join()
  return !isSameTree || now.cpu - before.cpu >= elapsed * MIN_CPU_SHARE
}

/** A call that the agent has told the beginning of, and not yet the end. */
export interface OpenToolCall {
  readonly tool: string
  readonly gist: string
}

/** Decides whether an attempt that was quiet for so long is hung: the evidence, or null while it may be at work. */
export function detectHang(
  limit: Duration,
  seen: { readonly quiet: Duration; readonly vitals: ActivitySample; readonly tool: OpenToolCall | null },
): string | null {
  const { quiet, vitals: sample, tool } = seen
  if (quiet < silenceLimit(limit, tool)) return null
  const count = sample.processes.length
  const record = sample.recordedAt === null ? '' : ', nothing new in its conversation'
  const cpu = `no CPU in ${count} ${count === 1 ? 'process' : 'processes'}`
  const call = tool === null ? 'no open tool call' : `${`${tool.tool} ${tool.gist}`.trim()} has not ended`
  return `silent for ${formatDuration(quiet)}: no output${record}, ${cpu}, ${call}`
}

/** How long it may be quiet. */
export function silenceLimit(limit: Duration, tool: OpenToolCall | null): Duration {
  return tool === null ? limit : limit * OPEN_TOOL_FACTOR
}
