import type { SessionView } from '../api/contract/responses.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import { readCheckpointsFromStart } from './work-summary.ts'
import fs from 'node:fs'
import path from 'node:path'
import { findChangesToCheck } from '../core/tampering/find-changes-to-check.ts'
import { Trouble } from '../lib/errors.ts'
import { type Home, homeExists } from '../state/home.ts'
import { readLoop } from '../state/loop-file.ts'
import { readStoredSession } from '../world/store/reader.ts'

/**
 * Returns the reason not to run a check, or null. The supervisor refuses it if the agent may not run commands itself
 * but has changed code that the check runs: otherwise the check would run that code for the agent. Without a checkpoint
 * from before the work, the check may run.
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
    return null // Git does not know; then the user's request counts.
  }
}

async function collectCheckChanges(
  cwd: string,
  commit: string,
  line: string,
): Promise<ReturnType<typeof findChangesToCheck>> {
  // Imports these modules only on demand, because a supervisor seldom needs them and would keep them in memory.
  const [git, texts] = await Promise.all([
    import('../world/git/worktrees/git-worktrees.ts'),
    import('../world/git/worktrees/revisions/text-changes.ts'),
  ])
  const worktrees = git.gitWorktrees()
  const top = (await worktrees.inspect(cwd))?.top ?? cwd
  const { tree } = await worktrees.snapshot(cwd)
  const [files] = await worktrees.diffTrees(cwd, [[`${commit}^{tree}`, tree]])
  const { changes, read } = await texts.readTextChanges(worktrees, { cwd, top }, files ?? [])
  return findChangesToCheck({ line, folder: path.relative(top, fs.realpathSync(cwd)), top }, changes, read)
}

/** Returns the check line that the session's start required; null without one. */
export function readRequestedCheck(home: Home, id: SessionId): string | null {
  if (!homeExists(home)) return null
  return readStoredSession(home, id)?.spec.supervision.verify?.check ?? readLoop(home, id)?.spec.check?.line ?? null
}
