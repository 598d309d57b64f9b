import { refusal } from '../../api/contract/problems.ts'
import { shownName } from '../../api/contract/shown-name.ts'
import type { SessionView } from '../../api/contract/responses.ts'
import { watchSession } from '../../views/read-session.ts'
import type { Home } from '../../state/home.ts'
import { formatLeftOut } from './format-session.ts'
import { isResumable } from '../../views/describe-session.ts'

/** Waits for a session's end and returns its last view; when aborted, the latest one. */
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

/** Waits until no process of the session lives, and returns its view; the session may end by itself meanwhile. */
export async function waitForNoProcesses(
  home: Home,
  session: SessionView,
  options: { signal: AbortSignal; onChange?: (view: SessionView) => void },
): Promise<SessionView> {
  let latest = session
  for await (const view of watchSession(home, session.id, options.signal)) {
    latest = view
    options.onChange?.(view)
    if (view.phase === 'ended' || (view.phase === 'blocked' && view.pid === null)) break
  }
  return latest
}

/**
 * In milliseconds. The checkpoint takes a moment after all processes have ended; a longer wait would only delay the
 * user.
 */
const SAVE_TIMEOUT = 3_000

/**
 * Waits for the checkpoint of an ended session and describes it; returns no lines if there is none, or it is not ready
 * yet.
 */
export async function waitForCheckpoint(home: Home, session: SessionView): Promise<string[]> {
  let latest = session
  const isSaved = (view: SessionView): boolean => !view.isSaving
  for await (const view of watchSession(home, session.id, AbortSignal.timeout(SAVE_TIMEOUT), isSaved)) latest = view
  return latest.isSaving ? [] : describeCheckpoint(latest)
}

export function describeCheckpoint(session: SessionView): string[] {
  const { checkpoint } = session
  const name = shownName(session)
  if (checkpoint === null) return []
  const { number } = checkpoint
  const commands = [`oneshot diff ${name}`, ...(isResumable(session) ? [`oneshot resume ${name}`] : [])]
  const summary =
    checkpoint.leftOut.length === 0 ? `all is saved in checkpoint ${number}` : `saved in checkpoint ${number}`
  return [`${summary}: ${commands.join(', ')}`, ...checkpoint.leftOut.map(formatLeftOut)]
}
