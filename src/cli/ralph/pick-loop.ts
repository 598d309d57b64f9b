import { refusal } from '../../api/contract/problems.ts'
import type { SessionView } from '../../api/contract/session-view.ts'
import { readSessions } from '../../views/sessions.ts'
import { isLoop } from '../../views/way-on.ts'
import { choose } from '../session/pick-session.ts'
import { here, type Surroundings } from '../surroundings.ts'
import { shownName } from '../session/state.ts'

/** The loop that is meant: by its own name or by that of somebody who works for it. */
export function pickLoop({ home }: Surroundings, word: string | undefined): SessionView {
  const sessions = readSessions(home)
  const cwd = here()
  const loops = [...new Set(sessions.filter(isLoop).map(({ name }) => name))]
  const hint = loops.length === 0 ? 'start one: oneshot ralph PRD.md' : `the loops are ${loops.join(', ')}`
  const nowhere = (): Error => refusal('no-loop', `there is no loop in this directory (${cwd})`, hint)
  if (word === undefined && !sessions.some(session => session.cwd === cwd)) throw nowhere()
  const found = choose(sessions, word, isLoop)
  const loop = isLoop(found) ? found : sessions.find(({ id }) => id === found.parent)
  if (loop !== undefined && isLoop(loop)) return loop
  if (word === undefined) throw nowhere()
  throw refusal('no-loop', `${shownName(found)} is not a loop`, hint)
}
