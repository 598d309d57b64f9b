import type { SessionView } from '../../api/contract/session-view.ts'
import { watchSession } from '../../views/watch-session.ts'
import type { Home } from '../../world/os/home.ts'

/** The session's view once none of its processes lives; it may end by itself meanwhile. */
export async function untilStill(home: Home, asked: SessionView, signal: AbortSignal): Promise<SessionView> {
  let latest = asked
  for await (const view of watchSession(home, asked.id, signal)) {
    latest = view
    if (view.phase === 'ended' || (view.phase === 'blocked' && view.pid === null)) break
  }
  return latest
}
