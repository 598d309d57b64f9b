import type { SessionView } from '../api/contract/session-view.ts'
import { sessionFolder } from '../world/os/folders.ts'
import type { Home } from '../world/os/home.ts'
import { Changes } from './changes.ts'
import { readSession } from './sessions.ts'

/** The session's view now and after each change, until it has ended, or this is so, or it is removed. Needs no supervisor. */
export async function* watchSession(
  home: Home,
  id: string,
  signal: AbortSignal,
  isOver: (view: SessionView) => boolean = view => view.phase === 'ended',
): AsyncGenerator<SessionView> {
  const changes = new Changes([sessionFolder(home, id).root])
  try {
    let shown = ''
    while (!signal.aborted) {
      const view = readSession(home, id)
      if (view === undefined) return
      const now = JSON.stringify(view)
      if (now !== shown) yield view
      shown = now
      if (isOver(view)) return
      await changes.next(signal)
    }
  } finally {
    changes.close()
  }
}
