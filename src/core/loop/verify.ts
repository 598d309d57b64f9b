import type { DiffStat } from '../checkpoint/checkpoint.ts'
import { type WorkEvidence, hasWork } from './evidence.ts'
import type { TaskFailure, TaskProof } from './loop.ts'
import type { CheckRun, WorkerExit } from './signals.ts'

export type TaskVerdict =
  | { readonly kind: 'done'; readonly how: string; readonly proof: TaskProof }
  | { readonly kind: 'flawed'; readonly flaw: TaskFailure }

export interface TaskFindings {
  /** What the agent's own end shows; null when it ended its turn well. */
  readonly flaw: TaskFailure | null
  /** Its last words. */
  readonly said: string
  readonly evidence: WorkEvidence
  readonly check: CheckRun | null
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
export function verifyTask(findings: TaskFindings): TaskVerdict {
  const { flaw, said, evidence, check, isTicked, remarks = [], isExcused = false } = findings
  if (flaw !== null) return { kind: 'flawed', flaw: mentionTickedBox(flaw, isTicked) }
  if (!hasWork(evidence)) return { kind: 'flawed', flaw: mentionTickedBox(noChangeFailure(said, evidence), isTicked) }
  if (check !== null && !check.ok && !isExcused)
    return { kind: 'flawed', flaw: mentionTickedBox(failedCheckFailure(check), isTicked) }
  const proof = check?.ok === true ? 'checked' : 'changed'
  return { kind: 'done', how: [describeEvidence(evidence, check, isExcused), ...remarks].join(', '), proof }
}

function noChangeFailure(said: string, { foreign = 0 }: WorkEvidence): TaskFailure {
  const commits = foreign === 1 ? 'a commit' : `${foreign} commits`
  const note = foreign === 0 ? '' : `; ${commits} that it did not make itself did not count`
  return { kind: 'idle', reason: `the agent finished without changing any file${note}`, detail: said }
}

function failedCheckFailure({ how, tail }: CheckRun): TaskFailure {
  return { kind: 'broken', reason: `the check fails: ${how}`, detail: tail }
}

/** What was claimed is told with what was found. */
function mentionTickedBox(failure: TaskFailure, isTicked: boolean): TaskFailure {
  return isTicked
    ? { ...failure, reason: `${failure.reason}; the agent had ticked its box, and the loop opened it again` }
    : failure
}

/** The evidence in one line. */
function describeEvidence(state: WorkEvidence, check: CheckRun | null, isExcused: boolean): string {
  const { commitCount, change, uncommitted } = state
  const parts = [
    ...(commitCount > 0 ? [`${commitCount} ${commitCount === 1 ? 'commit' : 'commits'}`] : []),
    ...(change.files > 0 ? [formatDiffStat(change)] : []),
    ...(uncommitted > 0 ? [`${uncommitted} not committed`] : []),
    ...(check === null ? [] : [`${check.how}${isExcused ? ', as before the first task' : ''}`]),
  ]
  return `${parts.join(', ')}${check === null ? '; not tested' : ''}`
}

function formatDiffStat({ files, added, removed }: DiffStat): string {
  return `${files} ${files === 1 ? 'file' : 'files'} +${added} -${removed}`
}

/** What the end of a worker means for its loop. */
export type WorkerExitClass =
  /** What it left is looked at. `flaw`: what is known to be wrong with it already. */
  | { readonly kind: 'judge'; readonly flaw: TaskFailure | null }
  /** No fault of this task, and the next one would fare no better. */
  | { readonly kind: 'halt'; readonly reason: string }

/** The agent itself cannot work: not logged in, not installed, over its limit for longer than anybody wants to wait. */
const HALTING_PROBLEMS: ReadonlySet<string> = new Set([
  'login',
  'setup',
  'start',
  'rate-limit',
  'overloaded',
  'network',
  'absence',
  'folder',
])

export function classifyWorkerExit({ outcome, reason, trouble, said }: WorkerExit): WorkerExitClass {
  if (outcome === 'done') return { kind: 'judge', flaw: null }
  if (trouble !== null && HALTING_PROBLEMS.has(trouble)) return { kind: 'halt', reason }
  return { kind: 'judge', flaw: { kind: 'failed', reason, detail: said } }
}
