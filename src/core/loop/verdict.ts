import type { Change } from '../checkpoint.ts'
import { type Evidence, hasWork } from './evidence.ts'
import type { Flaw } from './loop.ts'
import type { Checked } from './signals.ts'

export type Verdict = { readonly kind: 'done'; readonly how: string } | { readonly kind: 'flawed'; readonly flaw: Flaw }

export interface Findings {
  /** What the agent's own end shows; null when it ended its turn well. */
  readonly flaw: Flaw | null
  /** Its last words. */
  readonly said: string
  readonly evidence: Evidence
  readonly check: Checked | null
  readonly isTicked: boolean
}

/**
 * Decides whether a task is done. Its agent's word and its box are not enough: something must have changed since the task was begun, and the
 * check must pass where there is one.
 */
export function judge({ flaw, said, evidence, check, isTicked }: Findings): Verdict {
  if (flaw !== null) return { kind: 'flawed', flaw: withTick(flaw, isTicked) }
  if (!hasWork(evidence)) return { kind: 'flawed', flaw: withTick(idle(said), isTicked) }
  if (check !== null && !check.ok) return { kind: 'flawed', flaw: withTick(broken(check), isTicked) }
  return { kind: 'done', how: tell(evidence, check) }
}

function idle(said: string): Flaw {
  return { kind: 'idle', reason: 'the agent ended its turn and changed nothing', detail: said }
}

function broken({ how, tail }: Checked): Flaw {
  return { kind: 'broken', reason: `the check fails: ${how}`, detail: tail }
}

/** What was claimed is told with what was found. */
function withTick(flaw: Flaw, isTicked: boolean): Flaw {
  return isTicked ? { ...flaw, reason: `${flaw.reason}; its box was ticked, and is open again` } : flaw
}

/** The evidence in one line. */
function tell(evidence: Evidence, check: Checked | null): string {
  const { commitCount, change, uncommitted } = evidence
  const parts = [
    ...(commitCount > 0 ? [`${commitCount} ${commitCount === 1 ? 'commit' : 'commits'}`] : []),
    ...(change.files > 0 ? [changeText(change)] : []),
    ...(uncommitted > 0 ? [`${uncommitted} not committed`] : []),
    check === null ? 'nothing was run to check it' : check.how,
  ]
  return parts.join(', ')
}

function changeText({ files, added, removed }: Change): string {
  return `${files} ${files === 1 ? 'file' : 'files'} +${added} -${removed}`
}
