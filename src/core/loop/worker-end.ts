import type { Flaw } from './loop.ts'
import type { WorkerEnd } from './signals.ts'

/** What the end of a worker means for its loop. */
export type EndOfWork =
  /** What it left is looked at. `flaw`: what is known to be wrong with it already. */
  | { readonly kind: 'judge'; readonly flaw: Flaw | null }
  /** No fault of this task, and the next one would fare no better. */
  | { readonly kind: 'halt'; readonly reason: string }

/** The agent itself cannot work: not logged in, not installed, over its limit for longer than anybody wants to wait. */
const HALTING: ReadonlySet<string> = new Set([
  'login',
  'setup',
  'start',
  'rate-limit',
  'overloaded',
  'network',
  'absence',
  'folder',
])

export function judgeWorkerEnd({ outcome, reason, trouble, said }: WorkerEnd): EndOfWork {
  if (outcome === 'done') return { kind: 'judge', flaw: null }
  if (trouble !== null && HALTING.has(trouble)) return { kind: 'halt', reason }
  return { kind: 'judge', flaw: { kind: 'failed', reason, detail: said } }
}
