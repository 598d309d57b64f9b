import path from 'node:path'
import type { CheckStatus } from '../core/policy/verify.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import type { Session } from '../core/session/session-state.ts'
import type { Duration } from '../lib/time.ts'
import { Trouble, errorMessage } from '../lib/errors.ts'
import type { Checks } from '../ports/checks.ts'
import type { WorkInspector } from '../ports/checks.ts'
import { explainChangedCheck } from '../views/refuse-changed-check.ts'
import { readFinalOutput } from '../views/final-output.ts'
import { toCheckpointView, toSessionView } from '../views/session-view.ts'
import { readCheckpointsFromStart, summarizeWork } from '../views/work-summary.ts'
import { sessionFolder } from '../state/session-folder.ts'
import type { Home } from '../state/home.ts'

/** Milliseconds. A test suite that takes longer proves nothing within reasonable time. */
const CHECK_TIMEOUT: Duration = 30 * 60_000

/** Inspects work with the same functions that produce the views for people. */
export function createWorkInspector(
  home: Home,
  context: { checks: Checks; environment: (sessionId: SessionId) => Readonly<Record<string, string>> },
): WorkInspector {
  return {
    inspect: async (session, lastCheckpoint, ending) => {
      const { git, check } = session.spec.supervision.verify ?? { git: false, check: null }
      const view = toSessionView(session, home)
      const checkpoints = git ? await readCheckpointsFromStart(home, view) : []
      const saved = lastCheckpoint === null || checkpoints.length === 0 ? null : toCheckpointView(lastCheckpoint)
      const work = git ? (await summarizeWork(home, view, checkpoints, saved)).work : null
      const failures = git ? (await readFinalOutput(home, view)).failures : []
      const checked = check === null ? null : await runCheck(check, session, ending)
      return { work, failures, checked }
    },
  }

  async function runCheck(line: string, session: Session, ending: AbortSignal): Promise<CheckStatus> {
    const refusal = await explainChangedCheck(home, toSessionView(session, home), line)
    if (refusal !== null) return { kind: 'unknown', line, how: refusal }
    const { spec } = session
    const log = path.join(sessionFolder(home, spec.id).root, 'checks', 'end.log')
    const runOptions = { cwd: spec.cwd, env: context.environment(spec.id), log, limit: CHECK_TIMEOUT }
    try {
      const {
        ok,
        how,
        tests = null,
        isUnknown,
      } = await context.checks.run({ line, why: 'asked for' }, runOptions, ending)
      return { kind: isUnknown === true ? 'unknown' : ok ? 'passed' : 'failed', line, how, tests }
    } catch (cause) {
      if (!(cause instanceof Trouble)) throw cause
      return { kind: 'unknown', line, how: errorMessage(cause) }
    }
  }
}
