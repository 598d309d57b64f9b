import type { VerificationView } from '../api/contract/verification.ts'
import type { SessionView } from '../api/contract/responses.ts'
import { type CheckStatus, type SessionWork, verifyWork } from '../core/policy/verify.ts'
import type { FinalOutput } from './final-output.ts'
import { type WorkReport, readCheckpointsFromStart } from './work-summary.ts'
import fs from 'node:fs'
import path from 'node:path'
import { findChangesToCheck } from '../core/tampering/check-definition.ts'
import { Trouble } from '../lib/errors.ts'
import { type Home, homeExists } from '../state/home.ts'
import { readLoop } from '../state/loop-file.ts'
import { readStoredSession } from '../world/store/reader.ts'

/** What was run to see whether the project is in order; or why nothing was. */
export type CheckRun = NonNullable<VerificationView['check']> | 'none' | 'off'

/** Everything that was found, with the verdict on it. */
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
  const { line, how, ok } = checkRun
  return { kind: ok === null ? 'unknown' : ok ? 'passed' : 'failed', line, how }
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

/**
 * Why a check must not be run for a session whose agent may not run commands itself: it has changed what the check runs, and would have its
 * own code run by us. Null where it may be run, also where no checkpoint tells what was there before.
 */
export async function explainChangedCheck(home: Home, session: SessionView, line: string): Promise<string | null> {
  if (session.autonomy === 'full' || session.agent === 'command') return null
  const [first] = await readCheckpointsFromStart(home, session)
  if (first === undefined) return null
  try {
    const found = await collectCheckChanges(session.cwd, first.commit, line)
    if (found.length === 0) return null
    const described = found.map(({ path: file, what }) => `${file}: ${what}`).join('; ')
    return `${line} was not run: the agent does not have full autonomy, and changed files that the check runs (${described})`
  } catch (cause) {
    if (!(cause instanceof Trouble)) throw cause
    return null // Git cannot tell; then what the user has asked for is done.
  }
}

async function collectCheckChanges(
  cwd: string,
  commit: string,
  line: string,
): Promise<ReturnType<typeof findChangesToCheck>> {
  // A supervisor seldom needs it, and would keep it in memory.
  const [git, texts] = await Promise.all([
    import('../world/git/worktrees/git-worktrees.ts'),
    import('../world/git/worktrees/file-texts.ts'),
  ])
  const worktrees = git.gitWorktrees()
  const top = (await worktrees.inspect(cwd))?.top ?? cwd
  const { tree } = await worktrees.snapshot(cwd)
  const [files] = await worktrees.diffTrees(cwd, [[`${commit}^{tree}`, tree]])
  const { changes, read } = await texts.readTextChanges(worktrees, { cwd, top }, files ?? [])
  return findChangesToCheck({ line, folder: path.relative(top, fs.realpathSync(cwd)), top }, changes, read)
}

/** The line that must pass for a session's work to be called done, as it was started; null where none was given. */
export function readRequestedCheck(home: Home, id: string): string | null {
  if (!homeExists(home)) return null
  return readStoredSession(home, id)?.spec.verify?.check ?? readLoop(home, id)?.spec.check?.line ?? null
}
