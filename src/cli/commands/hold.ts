import { refusal } from '../../api/contract/problems.ts'
import type { SessionView } from '../../api/contract/session-view.ts'
import { watchSession } from '../../views/watch-session.ts'
import type { Home } from '../../world/os/home.ts'
import { ensureDaemon } from '../ensure-daemon.ts'
import { isLive } from '../find-session.ts'
import type { Line } from '../line/line.ts'
import { INTERRUPTED, look } from '../look.ts'
import { toJson } from '../screen/json.ts'
import { pickSession } from '../session/pick-session.ts'
import { stateLine } from '../session/state.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

export async function hold(line: Line, surroundings: Surroundings): Promise<number> {
  const { home, screen } = surroundings
  const session = pickSession(surroundings, line.words[0], isLive)
  if (!isLive(session))
    throw refusal(
      'session-ended',
      `${session.name} has ended, and stands still anyway`,
      `oneshot status ${session.name}`,
    )
  const asked = await (await ensureDaemon(home)).hold(session.id)
  let latest = asked
  const { ended } = await look({}, async signal => {
    latest = await untilStill(home, asked, signal)
  })
  if (line.has(OPTIONS.json)) screen.out.say(toJson(latest))
  else if (!screen.isQuiet) screen.out.say(stateLine(latest, screen.out.paint))
  return ended === 'interrupted' ? INTERRUPTED : 0
}

/** Its view once nothing of it lives; it may end by itself meanwhile. */
async function untilStill(home: Home, asked: SessionView, signal: AbortSignal): Promise<SessionView> {
  let latest = asked
  for await (const view of watchSession(home, asked.id, signal)) {
    latest = view
    if (view.phase === 'ended' || (view.phase === 'blocked' && view.pid === null)) break
  }
  return latest
}
