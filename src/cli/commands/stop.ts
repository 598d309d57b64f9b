import { isLive } from '../find-session.ts'
import type { Line } from '../line/line.ts'
import { toJson } from '../screen/json.ts'
import { pickSession } from '../session/pick-session.ts'
import { stateLine } from '../session/state.ts'
import { stopSessions } from '../session/stop-sessions.ts'
import { whenSaved } from '../session/when-saved.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

export async function stop(line: Line, surroundings: Surroundings): Promise<number> {
  const { screen } = surroundings
  const session = pickSession(surroundings, line.words[0])
  if (!isLive(session)) {
    if (line.has(OPTIONS.json)) screen.out.say(toJson(session))
    else if (!screen.isQuiet) screen.err.say(`it had ended already: ${stateLine(session, screen.err.paint)}`)
    return 0
  }
  const { views, code } = await stopSessions(surroundings, [session], {
    timeout: line.value(OPTIONS.timeout),
    wait: !line.has(OPTIONS.noWait),
  })
  const view = views[0] ?? session
  if (line.has(OPTIONS.json)) screen.out.say(toJson(view))
  else if (!screen.isQuiet && code === 0) {
    screen.out.say(stateLine(view, screen.out.paint))
    if (screen.out.isTerminal) for (const text of await whenSaved(surroundings.home, view)) screen.out.say(`  ${text}`)
  }
  return code
}
