import type { SessionView } from '../../api/contract/session-view.ts'
import { readBoard } from '../../views/loops.ts'
import { readSessions } from '../../views/sessions.ts'
import { isLoop, isResumable } from '../../views/way-on.ts'
import type { Home } from '../../world/os/home.ts'
import { likeliestFirst } from '../find-session.ts'

/** The last loop on this list, if it was not finished: whoever begins anew may have meant to go on with it. */
export function earlierLoop(home: Home, cwd: string, list: string | null): SessionView | undefined {
  const loops = likeliestFirst(readSessions(home)).filter(session => isLoop(session) && session.cwd === cwd)
  const last = loops.find(session => readBoard(home, session, Date.now())?.list === list)
  return last !== undefined && isResumable(last) ? last : undefined
}
