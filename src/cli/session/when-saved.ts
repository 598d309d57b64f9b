import type { SessionView } from '../../api/contract/session-view.ts'
import { isResumable } from '../../views/way-on.ts'
import { watchSession } from '../../views/watch-session.ts'
import type { Home } from '../../world/os/home.ts'
import { leftOut } from './change-of.ts'

/** Saving takes a moment after everything has ended; who waits longer than this is told later. */
const PATIENCE = 3_000

/** What of an ended session was saved, once it is; nothing when nothing is, or nobody knows yet. */
export async function whenSaved(home: Home, session: SessionView): Promise<string[]> {
  let latest = session
  const isSaved = (view: SessionView): boolean => !view.isSaving
  for await (const view of watchSession(home, session.id, AbortSignal.timeout(PATIENCE), isSaved)) latest = view
  return latest.isSaving ? [] : savedLines(latest)
}

export function savedLines(session: SessionView): string[] {
  const { name, checkpoint } = session
  if (checkpoint === null) return []
  const { number } = checkpoint
  const ways = [`oneshot diff ${name}`, ...(isResumable(session) ? [`oneshot resume ${name}`] : [])]
  const what =
    checkpoint.leftOut.length === 0 ? `all is saved in checkpoint ${number}` : `saved in checkpoint ${number}`
  return [`${what}: ${ways.join(', ')}`, ...checkpoint.leftOut.map(leftOut)]
}
