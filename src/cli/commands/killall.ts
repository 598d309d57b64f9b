import { refusal } from '../../api/contract/problems.ts'
import { readSessions } from '../../views/sessions.ts'
import { isLive } from '../find-session.ts'
import type { Line } from '../line/line.ts'
import { ask } from '../screen/ask.ts'
import { toJson } from '../screen/json.ts'
import { stateLine } from '../session/state.ts'
import { stopSessions } from '../session/stop-sessions.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

export async function killall(line: Line, surroundings: Surroundings): Promise<number> {
  const { screen, home } = surroundings
  const { out, err } = screen
  const live = readSessions(home).filter(isLive)
  if (live.length === 0) {
    if (line.has(OPTIONS.json)) out.say(toJson([]))
    else if (!screen.isQuiet) err.say('nothing is running')
    return 0
  }
  const many = live.length === 1 ? '1 session' : `${live.length} sessions`
  if (!line.has(OPTIONS.yes)) {
    if (!screen.mayAsk) throw refusal('needs-yes', `this would stop ${many}`, 'oneshot killall --yes')
    for (const session of live) err.say(`  ${stateLine(session, err.paint)}`)
    if (!(await ask(`stop ${many}?`))) return 1
  }
  const { views, code } = await stopSessions(surroundings, live, { timeout: line.value(OPTIONS.timeout), wait: true })
  if (line.has(OPTIONS.json)) out.say(toJson(views))
  else if (!screen.isQuiet) for (const view of views.filter(view => !isLive(view))) out.say(stateLine(view, out.paint))
  return code
}
