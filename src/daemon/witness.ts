import path from 'node:path'
import type { Checked } from '../core/prove.ts'
import type { Session } from '../core/session.ts'
import type { Duration } from '../lib/time.ts'
import { Trouble, wordsOf } from '../lib/trouble.ts'
import type { Checks } from '../ports/checks.ts'
import type { Witness } from '../ports/witness.ts'
import { changedCheckOf } from '../views/changed-check.ts'
import { lastWordsOf } from '../views/last-words.ts'
import { checkpointView, viewOf } from '../views/session-view.ts'
import { tellingCheckpoints, workOf } from '../views/work-of.ts'
import { sessionFolder } from '../world/os/folders.ts'
import type { Home } from '../world/os/home.ts'

/** A test suite that takes longer proves nothing within reasonable time. */
const LIMIT: Duration = 30 * 60_000

/** Looks at work with what people look at it with. */
export function witnessFor(
  home: Home,
  given: { checks: Checks; environment: (sessionId: string) => Readonly<Record<string, string>> },
): Witness {
  return {
    see: async (session, now, ending) => {
      const { git, check } = session.spec.verify ?? { git: false, check: null }
      const view = viewOf(session, home)
      const checkpoints = git ? await tellingCheckpoints(home, view) : []
      const saved = now === null || checkpoints.length === 0 ? null : checkpointView(now)
      const work = git ? (await workOf(home, view, checkpoints, saved)).work : null
      const failures = git ? (await lastWordsOf(home, view)).failures : []
      const checked = check === null ? null : await tryLine(check, session, ending)
      return { work, failures, checked }
    },
  }

  async function tryLine(line: string, session: Session, ending: AbortSignal): Promise<Checked> {
    const refused = await changedCheckOf(home, viewOf(session, home), line)
    if (refused !== null) return { kind: 'unknown', line, how: refused }
    const { spec } = session
    const log = path.join(sessionFolder(home, spec.id).root, 'checks', 'end.log')
    const at = { cwd: spec.cwd, env: given.environment(spec.id), log, limit: LIMIT }
    try {
      const { ok, how, isUnknown } = await given.checks.run({ line, why: 'asked for' }, at, ending)
      return { kind: isUnknown === true ? 'unknown' : ok ? 'passed' : 'failed', line, how }
    } catch (cause) {
      if (!(cause instanceof Trouble)) throw cause
      return { kind: 'unknown', line, how: wordsOf(cause) }
    }
  }
}
