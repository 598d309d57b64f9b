import type { VerificationView } from '../api/contract/verification.ts'
import type { SessionView } from '../api/contract/responses.ts'
import { type CheckStatus, type SessionWork, verifyWork } from '../core/policy/verify.ts'
import type { FinalOutput } from './final-output.ts'
import { type WorkReport } from './work-summary.ts'

/** The result of the project's check, or the reason that none ran. */
export type CheckRun = NonNullable<VerificationView['check']> | 'none' | 'off'

/** Combines all evidence with the verdict. */
export function toVerificationView(
  session: SessionView,
  { work, remarks }: WorkReport,
  finalOutput: FinalOutput,
  checkRun: CheckRun,
): VerificationView {
  const { name, phase, outcome, reason, exitCode, signal } = session
  const state = phase === 'ended' ? (outcome ?? 'failed') : 'at-work'
  const { verdict, sentence, reasons } = verifyWork({
    state,
    reason,
    work,
    ...finalOutput,
    checked: toChecked(checkRun),
  })
  return {
    session: name,
    verdict,
    sentence,
    reasons,
    work: typeof work === 'string' ? null : toWorkView(work),
    remarks,
    state: phase === 'ended' ? state : phase,
    reason,
    exitCode,
    signal,
    ...finalOutput,
    check: typeof checkRun === 'string' ? null : checkRun,
  }
}

function toChecked(checkRun: CheckRun): CheckStatus {
  if (typeof checkRun === 'string') return { kind: checkRun }
  const { line, how, ok, tests } = checkRun
  return { kind: ok === null ? 'unknown' : ok ? 'passed' : 'failed', line, how, tests }
}

function toWorkView({
  commitCount,
  commits,
  change,
  files,
  uncommitted,
}: SessionWork): NonNullable<VerificationView['work']> {
  return { commitCount, commits, ...change, names: files, uncommitted }
}
