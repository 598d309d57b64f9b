import type { SessionView } from '../../api/contract/responses.ts'
import { readLoop } from '../../state/loop-file.ts'
import { shownName } from '../../api/contract/shown-name.ts'
import { LOOP_KINDS } from '../../api/contract/known-agents.ts'
import { findEnded, findEndedNames, findLive, hasSession } from '../../views/session-search.ts'
import { readSession } from '../../views/read-session.ts'
import { isLoop, isResumable } from '../../views/describe-session.ts'
import type { Home } from '../../state/home.ts'
import { pickSession } from '../session/find-session.ts'
import { refusal } from '../../api/contract/problems.ts'
import { type CommandContext, currentDirectory } from '../context.ts'

/** So many ended loops of a directory may have worked on another list since. */
const RECENT = 50
/** Loops that a hint names. */
const MAX_NAMED = 5

/** Returns the last loop on this list if it is unfinished: the user may have meant to continue it. */
export function findUnfinishedLoop(home: Home, cwd: string, list: string | null): SessionView | undefined {
  const filter = { agents: LOOP_KINDS, cwds: [cwd] }
  const loops = [...findLive(home, filter), ...findEnded(home, filter, { limit: RECENT })]
  const last = loops.find(session => readLoop(home, session.id)?.spec.list === list)
  return last !== undefined && isResumable(last) ? last : undefined
}

/** Returns the loop that a word means, by its own name or by that of one of its workers. */
export function pickLoop(context: CommandContext, word: string | undefined): SessionView {
  const { home } = context
  const cwd = currentDirectory(context)
  const noLoopHere = (): Error => refusal('no-loop', `there is no loop in this directory (${cwd})`, describeLoops(home))
  if (word === undefined && !hasSession(home, { cwds: [cwd] })) throw noLoopHere()
  const found = pickSession(context, word, isLoop)
  const loop = isLoop(found) || found.parent === null ? found : readSession(home, found.parent)
  if (loop !== undefined && isLoop(loop)) return loop
  if (word === undefined) throw noLoopHere()
  throw refusal('no-loop', `${shownName(found)} is not a loop`, describeLoops(home))
}

function describeLoops(home: Home): string {
  const filter = { agents: LOOP_KINDS }
  const loops = [...new Set([...findLive(home, filter).map(({ name }) => name), ...findEndedNames(home, filter)])]
  if (loops.length === 0) return 'start one: oneshot ralph PRD.md'
  const more = loops.length > MAX_NAMED ? `, and ${loops.length - MAX_NAMED} more: oneshot list --all` : ''
  return `the loops are ${loops.slice(0, MAX_NAMED).join(', ')}${more}`
}
