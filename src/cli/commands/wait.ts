import type { SessionView } from '../../api/contract/session-view.ts'
import { waysToAnswer } from '../../views/way-on.ts'
import { ensureDaemon } from '../ensure-daemon.ts'
import { isLive } from '../find-session.ts'
import type { Line } from '../line/line.ts'
import { INTERRUPTED, look, TIMED_OUT } from '../look.ts'
import { toJson } from '../screen/json.ts'
import type { Screen } from '../screen/screen.ts'
import { exitStatusOf } from '../session/exit-status.ts'
import { pickSessions } from '../session/pick-session.ts'
import { stateLine } from '../session/state.ts'
import { untilEnded } from '../session/until-ended.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

export async function wait(line: Line, surroundings: Surroundings): Promise<number> {
  const { screen, home } = surroundings
  const sessions = pickSessions(surroundings, line.words)
  if (sessions.some(isLive)) await ensureDaemon(home) // Nobody else records the end.
  const latest = new Map(sessions.map(session => [session.id, session]))
  const glance = await look({ timeout: line.value(OPTIONS.timeout) }, signal =>
    Promise.all(
      sessions.map(session => {
        const announce = line.has(OPTIONS.json) && !screen.err.isTerminal ? () => undefined : announcer(screen)
        const onChange = (view: SessionView): void => {
          latest.set(view.id, view)
          announce(view)
        }
        return untilEnded(home, session, { signal, onChange })
      }),
    ),
  )
  const views = [...latest.values()]
  if (line.has(OPTIONS.json)) screen.out.say(toJson(views.length === 1 ? views[0] : views))
  if (glance.ended === 'by-itself') return views.map(exitStatusOf).find(code => code !== 0) ?? 0
  const names = views.filter(view => view.phase !== 'ended').map(view => view.name)
  const why = glance.ended === 'interrupted' ? '\nstopped waiting' : 'waited long enough'
  if (!line.has(OPTIONS.json) || screen.err.isTerminal)
    screen.err.say(`${why}; the work continues: ${names.join(', ')}`)
  return glance.ended === 'interrupted' ? INTERRUPTED : TIMED_OUT
}

/** Says the end aloud, and once each time that it waits for a person. */
function announcer({ err, isQuiet }: Screen): (view: SessionView) => void {
  let wasBlocked = false
  return view => {
    const isBlocked = view.phase === 'blocked'
    if (isBlocked && !wasBlocked) err.say(`${stateLine(view, err.paint)} (${waysToAnswer(view)})`)
    if (view.phase === 'ended' && !isQuiet) err.say(stateLine(view, err.paint))
    wasBlocked = isBlocked
  }
}
