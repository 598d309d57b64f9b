import { refusal } from '../../api/contract/problems.ts'
import type { SessionView } from '../../api/contract/responses.ts'
import { watchSession } from '../../views/sessions.ts'
import type { Home } from '../../state/home.ts'
import { formatLeftOut, shownName } from './format.ts'
import { isResumable } from '../../views/session-state.ts'

/** Waits for a session's end and answers with its last view; when aborted, with the latest one. */
export async function waitForEnd(
  home: Home,
  session: SessionView,
  options: { signal: AbortSignal; onChange?: (view: SessionView) => void },
): Promise<SessionView> {
  let latest = session
  for await (const view of watchSession(home, session.id, options.signal)) {
    latest = view
    options.onChange?.(view)
    if (view.phase === 'ended') break
  }
  if (latest.phase !== 'ended' && !options.signal.aborted) {
    throw refusal('no-session', `${shownName(session)} was removed meanwhile`, 'oneshot list')
  }
  return latest
}

/** The session's view once none of its processes lives; it may end by itself meanwhile. */
export async function waitForNoProcesses(home: Home, session: SessionView, signal: AbortSignal): Promise<SessionView> {
  let latest = session
  for await (const view of watchSession(home, session.id, signal)) {
    latest = view
    if (view.phase === 'ended' || (view.phase === 'blocked' && view.pid === null)) break
  }
  return latest
}

/** Saving takes a moment after everything has ended; who waits longer than this is told later. */
const SAVE_TIMEOUT = 3_000

/** What of an ended session was saved, once it is; nothing when nothing is, or nobody knows yet. */
export async function waitForCheckpoint(home: Home, session: SessionView): Promise<string[]> {
  let latest = session
  const isSaved = (view: SessionView): boolean => !view.isSaving
  for await (const view of watchSession(home, session.id, AbortSignal.timeout(SAVE_TIMEOUT), isSaved)) latest = view
  return latest.isSaving ? [] : describeCheckpoint(latest)
}

export function describeCheckpoint(session: SessionView): string[] {
  const { name, checkpoint } = session
  if (checkpoint === null) return []
  const { number } = checkpoint
  const commands = [`oneshot diff ${name}`, ...(isResumable(session) ? [`oneshot resume ${name}`] : [])]
  const summary =
    checkpoint.leftOut.length === 0 ? `all is saved in checkpoint ${number}` : `saved in checkpoint ${number}`
  return [`${summary}: ${commands.join(', ')}`, ...checkpoint.leftOut.map(formatLeftOut)]
}
