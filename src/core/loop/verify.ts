import type { DiffStat } from '../checkpoint/checkpoint.ts'
import { type WorkEvidence, hasWork } from './work-evidence.ts'
import type { TaskFailure, TaskProof } from './loop-state.ts'
import type { CheckRun, WorkerExit } from './signals.ts'

export type TaskVerdict =
  | { readonly kind: 'done'; readonly how: string; readonly proof: TaskProof; readonly doubt: string | null }
  | { readonly kind: 'failed'; readonly failure: TaskFailure }

export interface TaskFindings {
  /** The failure that the agent's own exit shows; null if it ended its turn well. */
  readonly failure: TaskFailure | null
  /** The agent's last text. */
  readonly said: string
  readonly evidence: WorkEvidence
  readonly check: CheckRun | null
  readonly isTicked: boolean
  /** Other facts for people. */
  readonly remarks?: readonly string[]
  /** The reasons why a check that passes may prove less than before. */
  readonly doubts?: readonly string[]
  /** True if the check also failed before any task, and has not passed since. */
  readonly isExcused?: boolean
}

/**
 * Decides if a task is done. The agent's report and the ticked box are not enough: a file must have changed since the
 * task started, and the check, if there is one, must pass.
 */
export function verifyTask(findings: TaskFindings): TaskVerdict {
  const { failure, said, evidence, check, isTicked, remarks = [], doubts = [], isExcused = false } = findings
  if (failure !== null) return { kind: 'failed', failure: mentionTickedBox(failure, isTicked) }
  if (!hasWork(evidence))
    return { kind: 'failed', failure: mentionTickedBox(noChangeFailure(said, evidence), isTicked) }
  if (check !== null && !check.ok && !isExcused)
    return { kind: 'failed', failure: mentionTickedBox(failedCheckFailure(check), isTicked) }
  const doubt = check?.ok === true && doubts.length > 0 ? doubts.join('; ') : null
  const proof = check?.ok === true && doubt === null ? 'checked' : 'changed'
  const reasons = doubt === null ? doubts : [`not fully proven: ${doubt}`]
  return {
    kind: 'done',
    how: [describeEvidence(evidence, check, isExcused), ...remarks, ...reasons].join(', '),
    proof,
    doubt,
  }
}

function noChangeFailure(said: string, { foreign = 0 }: WorkEvidence): TaskFailure {
  const commits = foreign === 1 ? 'a commit' : `${foreign} commits`
  const note = foreign === 0 ? '' : `; ${commits} that it did not make itself did not count`
  return { kind: 'idle', reason: `the agent finished without changing any file${note}`, detail: said }
}

function failedCheckFailure({ how, tail }: CheckRun): TaskFailure {
  return { kind: 'broken', reason: `the check fails: ${how}`, detail: tail }
}

/** Adds the agent's claim to the finding. */
function mentionTickedBox(failure: TaskFailure, isTicked: boolean): TaskFailure {
  return isTicked
    ? { ...failure, reason: `${failure.reason}; the agent had ticked its box, and the loop opened it again` }
    : failure
}

/** Describes the evidence in one line. */
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

/** The consequence of a worker's exit for its loop. */
export type WorkerExitClass =
  /** The verifier inspects the work. `failure`: a failure that is already known. */
  | { readonly kind: 'verify'; readonly failure: TaskFailure | null }
  /** The task is not at fault, and the next one would fail as well. */
  | { readonly kind: 'halt'; readonly reason: string }

/**
 * The agent itself cannot work: not logged in, not installed, or over its limit for longer than anybody wants to wait.
 */
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

export function classifyWorkerExit({ outcome, reason, trouble, finalOutput }: WorkerExit): WorkerExitClass {
  if (outcome === 'done') return { kind: 'verify', failure: null }
  if (trouble !== null && HALTING_PROBLEMS.has(trouble)) return { kind: 'halt', reason }
  return { kind: 'verify', failure: { kind: 'failed', reason, detail: finalOutput } }
}
