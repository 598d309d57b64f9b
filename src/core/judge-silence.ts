import { type Duration, formatDuration, type Instant } from '../lib/time.ts'

/** What can be seen of an attempt that is pushed by nobody. */
export interface Vitals {
  /** Bytes it has written so far. */
  readonly written: number
  /** When its own record of the conversation was last written; null when there is none to see. */
  readonly recordedAt: Instant | null
  /** Processor time that its processes have used, those that live now. */
  readonly cpu: Duration
  readonly processes: readonly number[]
}

/** Idle programs wake up now and then: claude 2.1 and opencode 1.18 use 0.8 % of a core while they wait. */
const LEAST_WORK = 0.02

/** A tool that runs may be quiet for longer: somebody wanted it to run. */
const WITH_A_TOOL = 4

/** Whether something happened between two looks that lie `elapsed` apart. */
export function hasMoved(before: Vitals, now: Vitals, elapsed: Duration): boolean {
  if (now.written !== before.written || now.recordedAt !== before.recordedAt) return true
  const isSameTree = now.processes.join() === before.processes.join()
  return !isSameTree || now.cpu - before.cpu >= elapsed * LEAST_WORK
}

/** A call that the agent has told the beginning of, and not yet the end. */
export interface OpenCall {
  readonly tool: string
  readonly gist: string
}

/** Decides whether an attempt that was quiet for so long is hung: the evidence, or null while it may be at work. */
export function judgeSilence(
  patience: Duration,
  seen: { readonly quiet: Duration; readonly vitals: Vitals; readonly tool: OpenCall | null },
): string | null {
  const { quiet, vitals, tool } = seen
  if (quiet < patienceWith(patience, tool)) return null
  const count = vitals.processes.length
  const record = vitals.recordedAt === null ? '' : ', nothing new in its conversation'
  const cpu = `no CPU in ${count} ${count === 1 ? 'process' : 'processes'}`
  const call = tool === null ? 'no open tool call' : `${`${tool.tool} ${tool.gist}`.trim()} has not ended`
  return `silent for ${formatDuration(quiet)}: no output${record}, ${cpu}, ${call}`
}

/** How long it may be quiet. */
export function patienceWith(patience: Duration, tool: OpenCall | null): Duration {
  return tool === null ? patience : patience * WITH_A_TOOL
}
