import type { SessionView } from '../../api/contract/session-view.ts'
import { watchSession } from '../../views/watch-session.ts'
import type { Home } from '../../world/os/home.ts'

/** Saving takes a moment after everything has ended; who waits longer than this is told later. */
const PATIENCE = 3_000

/** What of an ended session was saved, once it is; null when nothing is, or nobody knows yet. */
export async function whenSaved(home: Home, session: SessionView): Promise<string | null> {
  let latest = session
  const isSaved = (view: SessionView): boolean => !view.isSaving
  for await (const view of watchSession(home, session.id, AbortSignal.timeout(PATIENCE), isSaved)) latest = view
  if (latest.checkpoint === null || latest.isSaving) return null
  const { number } = latest.checkpoint
  return `all is saved in checkpoint ${number}: oneshot diff ${latest.name}, oneshot resume ${latest.name}`
}
