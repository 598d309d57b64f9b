import type { SessionView } from '../../api/contract/responses.ts'
import { readBoard } from '../../views/loop/loops.ts'
import { readSessions } from '../../views/sessions.ts'
import { isLoop, isResumable } from '../../views/session-state.ts'
import type { Home } from '../../state/home.ts'
import { chooseSession, sortByRelevance } from '../session/find-session.ts'
import { refusal } from '../../api/contract/problems.ts'
import { type CommandContext, currentDirectory } from '../context.ts'
import { shownName } from '../session/format.ts'

/** Returns the last loop on this list if it is unfinished: the user may have meant to continue it. */
export function findUnfinishedLoop(home: Home, cwd: string, list: string | null): SessionView | undefined {
  const loops = sortByRelevance(readSessions(home)).filter(session => isLoop(session) && session.cwd === cwd)
  const last = loops.find(session => readBoard(home, session, Date.now())?.list === list)
  return last !== undefined && isResumable(last) ? last : undefined
}

/** Returns the loop that a word means, by its own name or by that of one of its workers. */
export function pickLoop(context: CommandContext, word: string | undefined): SessionView {
  const sessions = readSessions(context.home)
  const cwd = currentDirectory(context)
  const loops = [...new Set(sessions.filter(isLoop).map(({ name }) => name))]
  const hint = loops.length === 0 ? 'start one: oneshot ralph PRD.md' : `the loops are ${loops.join(', ')}`
  const noLoopHere = (): Error => refusal('no-loop', `there is no loop in this directory (${cwd})`, hint)
  if (word === undefined && !sessions.some(session => session.cwd === cwd)) throw noLoopHere()
  const found = chooseSession(context, sessions, word, isLoop)
  const loop = isLoop(found) ? found : sessions.find(({ id }) => id === found.parent)
  if (loop !== undefined && isLoop(loop)) return loop
  if (word === undefined) throw noLoopHere()
  throw refusal('no-loop', `${shownName(found)} is not a loop`, hint)
}
