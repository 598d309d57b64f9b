import type { ProofView } from '../api/contract/proof-view.ts'
import type { SessionView } from '../api/contract/session-view.ts'
import { type Checked, prove, type Work } from '../core/prove.ts'
import type { LastWords } from './last-words.ts'
import type { WorkShown } from './work-of.ts'

/** What was run to see whether the project is in order; or why nothing was. */
export type Trial = NonNullable<ProofView['check']> | 'none' | 'off'

/** Everything that was found, with the verdict on it. */
export function proofOf(session: SessionView, { work, remarks }: WorkShown, words: LastWords, trial: Trial): ProofView {
  const { name, phase, outcome, reason, exitCode, signal } = session
  const state = phase === 'ended' ? (outcome ?? 'failed') : 'at-work'
  const { verdict, sentence, reasons } = prove({ state, reason, work, ...words, checked: checkedBy(trial) })
  return {
    session: name,
    verdict,
    sentence,
    reasons,
    work: typeof work === 'string' ? null : workView(work),
    remarks,
    state: phase === 'ended' ? state : phase,
    reason,
    exitCode,
    signal,
    ...words,
    check: typeof trial === 'string' ? null : trial,
  }
}

function checkedBy(trial: Trial): Checked {
  if (typeof trial === 'string') return { kind: trial }
  const { line, how, ok } = trial
  return { kind: ok === null ? 'unknown' : ok ? 'passed' : 'failed', line, how }
}

function workView({ commitCount, commits, change, files, uncommitted }: Work): NonNullable<ProofView['work']> {
  return { commitCount, commits, ...change, names: files, uncommitted }
}
