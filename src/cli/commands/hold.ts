import { refusal } from '../../api/contract/problems.ts'
import { isLive } from '../find-session.ts'
import type { Line } from '../line/line.ts'
import { INTERRUPTED, look } from '../look.ts'
import { toJson } from '../screen/json.ts'
import { pickSession } from '../session/pick-session.ts'
import { shownName, stateLine } from '../session/state.ts'
import { supervisorFor } from '../session/stop-sessions.ts'
import { untilStill } from '../session/until-still.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

export async function hold(line: Line, surroundings: Surroundings): Promise<number> {
  const { home, screen } = surroundings
  const session = pickSession(surroundings, line.words[0], isLive)
  if (!isLive(session))
    throw refusal('session-ended', `${shownName(session)} has already ended`, `oneshot status ${shownName(session)}`)
  const asked = await (await supervisorFor(home, [session], 'hold')).hold(session.id)
  let latest = asked
  const { ended } = await look({}, async signal => {
    latest = await untilStill(home, asked, signal)
  })
  if (line.has(OPTIONS.json)) screen.out.say(toJson(latest))
  else if (!screen.isQuiet) screen.out.say(stateLine(latest, screen.out.paint))
  return ended === 'interrupted' ? INTERRUPTED : 0
}
