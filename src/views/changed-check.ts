import fs from 'node:fs'
import path from 'node:path'
import type { SessionView } from '../api/contract/session-view.ts'
import { changedCheck } from '../core/guard/check-definition.ts'
import { Trouble } from '../lib/trouble.ts'
import type { Home } from '../world/os/home.ts'
import { tellingCheckpoints } from './work-of.ts'

/**
 * Why a check must not be run for a session whose agent may not run commands itself: it has changed what the check runs, and would have its
 * own code run by us. Null where it may be run, also where no checkpoint tells what was there before.
 */
export async function changedCheckOf(home: Home, session: SessionView, line: string): Promise<string | null> {
  if (session.autonomy === 'full' || session.agent === 'command') return null
  const [first] = await tellingCheckpoints(home, session)
  if (first === undefined) return null
  try {
    const found = await changesSince(session.cwd, first.commit, line)
    if (found.length === 0) return null
    const told = found.map(({ path: file, what }) => `${file}: ${what}`).join('; ')
    return `${line} was not run: the agent does not have full autonomy, and changed files that the check runs (${told})`
  } catch (cause) {
    if (!(cause instanceof Trouble)) throw cause
    return null // Git cannot tell; then what the user has asked for is done.
  }
}

async function changesSince(cwd: string, commit: string, line: string): Promise<ReturnType<typeof changedCheck>> {
  // A supervisor seldom needs it, and would keep it in memory.
  const [git, texts] = await Promise.all([
    import('../world/git/workshop/git-workshop.ts'),
    import('../world/git/workshop/with-texts.ts'),
  ])
  const workshop = git.gitWorkshop()
  const top = (await workshop.survey(cwd))?.top ?? cwd
  const { tree } = await workshop.snapshot(cwd)
  const [files] = await workshop.changes(cwd, [[`${commit}^{tree}`, tree]])
  const { changes, read } = await texts.withTexts(workshop, { cwd, top }, files ?? [])
  return changedCheck({ line, folder: path.relative(top, fs.realpathSync(cwd)), top }, changes, read)
}
