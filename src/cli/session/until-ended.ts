import { refusal } from '../../api/contract/problems.ts'
import type { SessionView } from '../../api/contract/session-view.ts'
import { watchSession } from '../../views/watch-session.ts'
import type { Home } from '../../world/os/home.ts'
import { shownName } from './state.ts'

/** Waits for a session's end and answers with its last view; when aborted, with the latest one. */
export async function untilEnded(
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
