import type { SessionView } from '../../api/contract/session-view.ts'
import { isLive } from '../find-session.ts'
import type { Line } from '../line/line.ts'
import { toJson } from '../screen/json.ts'
import { pickSession, pickSessions } from '../session/pick-session.ts'
import { stateLine } from '../session/state.ts'
import { stopSessions } from '../session/stop-sessions.ts'
import { whenSaved } from '../session/when-saved.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

export async function stop(line: Line, surroundings: Surroundings): Promise<number> {
  const { screen } = surroundings
  const chosen =
    line.words.length === 0 ? [pickSession(surroundings, undefined)] : pickSessions(surroundings, line.words)
  const live = chosen.filter(isLive)
  if (!screen.isQuiet && !line.has(OPTIONS.json))
    for (const session of chosen.filter(session => !isLive(session)))
      screen.err.say(`already ended: ${stateLine(session, screen.err.paint)}`)
  const { views, code } =
    live.length === 0
      ? { views: [], code: 0 }
      : await stopSessions(surroundings, live, {
          timeout: line.value(OPTIONS.timeout),
          wait: !line.has(OPTIONS.noWait),
          now: line.has(OPTIONS.now),
        })
  const latest = chosen.map(session => views.find(({ id }) => id === session.id) ?? session)
  if (line.has(OPTIONS.json)) screen.out.say(toJson(latest.length === 1 ? latest[0] : latest))
  else if (!screen.isQuiet && code === 0)
    await tell(
      latest.filter(({ id }) => live.some(session => session.id === id)),
      surroundings,
    )
  return code
}

async function tell(views: readonly SessionView[], { screen, home }: Surroundings): Promise<void> {
  for (const view of views) {
    screen.out.say(stateLine(view, screen.out.paint))
    if (screen.out.isTerminal) for (const text of await whenSaved(home, view)) screen.out.say(`  ${text}`)
  }
}
