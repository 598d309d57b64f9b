import { ensureDaemon } from '../ensure-daemon.ts'
import { isLive } from '../find-session.ts'
import type { Line } from '../line/line.ts'
import { INTERRUPTED, look } from '../look.ts'
import { toJson } from '../screen/json.ts'
import { pickSession } from '../session/pick-session.ts'
import { stateLine } from '../session/state.ts'
import { untilStill } from '../session/until-still.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

/** Holds a live session until none of its processes is left, and resumes it. */
export async function restart(line: Line, surroundings: Surroundings): Promise<number> {
  const { home, screen } = surroundings
  const session = pickSession(surroundings, line.words[0], isLive)
  const client = await ensureDaemon(home)
  if (isLive(session)) {
    const asked = await client.hold(session.id)
    const { ended } = await look({}, signal => untilStill(home, asked, signal))
    if (ended === 'interrupted') return INTERRUPTED
  }
  const resumed = await client.resume(session.id)
  if (line.has(OPTIONS.json)) screen.out.say(toJson(resumed))
  else if (!screen.isQuiet) screen.out.say(stateLine(resumed, screen.out.paint))
  return 0
}
