import type { Change } from '../checkpoint.ts'
import { type Evidence, hasWork } from './evidence.ts'
import type { Flaw, Proof } from './loop.ts'
import type { Checked } from './signals.ts'

export type Verdict =
  | { readonly kind: 'done'; readonly how: string; readonly proof: Proof }
  | { readonly kind: 'flawed'; readonly flaw: Flaw }

export interface Findings {
  /** What the agent's own end shows; null when it ended its turn well. */
  readonly flaw: Flaw | null
  /** Its last words. */
  readonly said: string
  readonly evidence: Evidence
  readonly check: Checked | null
  readonly isTicked: boolean
  /** What else a person should know of it. */
  readonly remarks?: readonly string[]
  /** The check failed before any task, too, and has not passed since. */
  readonly isExcused?: boolean
}

/**
 * Decides whether a task is done. Its agent's word and its box are not enough: something must have changed since the task was begun, and the
 * check must pass where there is one.
 */
export function judge(findings: Findings): Verdict {
  const { flaw, said, evidence, check, isTicked, remarks = [], isExcused = false } = findings
  if (flaw !== null) return { kind: 'flawed', flaw: withTick(flaw, isTicked) }
  if (!hasWork(evidence)) return { kind: 'flawed', flaw: withTick(idle(said, evidence), isTicked) }
  if (check !== null && !check.ok && !isExcused) return { kind: 'flawed', flaw: withTick(broken(check), isTicked) }
  const proof = check?.ok === true ? 'checked' : 'changed'
  return { kind: 'done', how: [tell(evidence, check, isExcused), ...remarks].join(', '), proof }
}

function idle(said: string, { foreign = 0 }: Evidence): Flaw {
  const commits = foreign === 1 ? 'a commit' : `${foreign} commits`
  const note = foreign === 0 ? '' : `; ${commits} that it did not make itself did not count`
  return { kind: 'idle', reason: `the agent finished without changing any file${note}`, detail: said }
}

function broken({ how, tail }: Checked): Flaw {
  return { kind: 'broken', reason: `the check fails: ${how}`, detail: tail }
}

/** What was claimed is told with what was found. */
function withTick(flaw: Flaw, isTicked: boolean): Flaw {
  return isTicked
    ? { ...flaw, reason: `${flaw.reason}; the agent had ticked its box, and the loop opened it again` }
    : flaw
}

/** The evidence in one line. */
function tell(evidence: Evidence, check: Checked | null, isExcused: boolean): string {
  const { commitCount, change, uncommitted } = evidence
  const parts = [
    ...(commitCount > 0 ? [`${commitCount} ${commitCount === 1 ? 'commit' : 'commits'}`] : []),
    ...(change.files > 0 ? [changeText(change)] : []),
    ...(uncommitted > 0 ? [`${uncommitted} not committed`] : []),
    ...(check === null ? [] : [`${check.how}${isExcused ? ', as before the first task' : ''}`]),
  ]
  return `${parts.join(', ')}${check === null ? '; not tested' : ''}`
}

function changeText({ files, added, removed }: Change): string {
  return `${files} ${files === 1 ? 'file' : 'files'} +${added} -${removed}`
}
