import type { SessionView } from '../../api/contract/session-view.ts'
import { followLog } from '../../views/log.ts'
import { readSession } from '../../views/sessions.ts'
import { ensureDaemon } from '../ensure-daemon.ts'
import { isLive } from '../find-session.ts'
import { INTERRUPTED, look } from '../look.ts'
import type { Surroundings } from '../surroundings.ts'
import { checkSaid } from './check-said.ts'
import { exitStatusOf } from './exit-status.ts'
import type { LogOptions } from './log-options.ts'
import { shownName, stateLine } from './state.ts'

/** Shows a session's output until it has ended, and answers with the exit code. */
export async function followSession(
  { screen, home }: Surroundings,
  session: SessionView,
  options: { log: LogOptions; passStatus: boolean },
): Promise<number> {
  const { out, err } = screen
  // Nobody else records the end; but what it writes can be seen even where no supervisor can be started.
  if (isLive(session)) await ensureDaemon(home).catch(() => undefined)
  const glance = await look({ outlet: out }, async signal => {
    for await (const bytes of followLog(home, session, options.log, signal)) await out.pour(bytes)
  })
  if (glance.ended === 'interrupted') {
    err.say(`\nthe work continues; stop it with: oneshot stop ${shownName(session)}`)
    return INTERRUPTED
  }
  if (glance.ended === 'unread') return 0
  const last = readSession(home, session.id) ?? session
  if (!screen.isQuiet) for (const text of [stateLine(last, err.paint), ...checkSaid(home, last)]) err.say(text)
  return options.passStatus ? exitStatusOf(last) : 0
}
