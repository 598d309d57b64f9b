import type { SessionView } from '../../api/contract/session-view.ts'
import type { Line } from '../line/line.ts'
import { toJson } from '../screen/json.ts'
import { followSession } from '../session/follow-session.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

/** Tells of a session that was taken up, and follows it when that is wanted. */
export async function showResumed(
  session: SessionView,
  said: string,
  line: Line,
  surroundings: Surroundings,
  after: number,
): Promise<number> {
  const { out, err, isQuiet } = surroundings.screen
  if (line.has(OPTIONS.follow)) {
    if (!isQuiet) err.say(`${said}  (Ctrl-C leaves it running)`)
    return await followSession(surroundings, session, {
      log: { raw: false, colour: out.isColoured, after },
      passStatus: true,
    })
  }
  if (line.has(OPTIONS.json)) out.say(toJson(session))
  else if (isQuiet || !out.isTerminal) out.say(session.name)
  else out.say(said)
  return 0
}
