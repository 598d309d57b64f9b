import { refusal } from '../../api/contract/problems.ts'
import type { LoopView } from '../../api/contract/loop-view.ts'
import type { SessionView } from '../../api/contract/session-view.ts'
import { readBoard } from '../../views/loops.ts'
import type { Line } from '../line/line.ts'
import { toJson } from '../screen/json.ts'
import type { Outlet } from '../screen/outlet.ts'
import { stateLine } from '../session/state.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'
import { boardLines } from './board-lines.ts'
import { pickLoop } from './pick-loop.ts'

export async function showBoard(line: Line, surroundings: Surroundings, word: string | undefined): Promise<number> {
  const { home, screen } = surroundings
  const session = pickLoop(surroundings, word)
  const isJson = line.has(OPTIONS.json)
  if (line.has(OPTIONS.watch)) return (await import('./watch.ts')).watch(session, surroundings, { isJson })
  const board = readBoard(home, session, Date.now())
  if (!isJson) for (const text of linesOf(session, board, screen.out)) screen.out.say(text)
  else if (board === undefined) throw notBegun(session)
  else screen.out.say(toJson(board))
  return 0
}

/** The board, or what is known before there is one. */
export function linesOf(
  session: SessionView,
  board: LoopView | undefined,
  out: Outlet,
  height = Number.POSITIVE_INFINITY,
): string[] {
  const head = stateLine(board === undefined ? session : { ...session, reason: board.reason }, out.paint)
  if (board !== undefined) return boardLines(board, head, out.paint, { width: out.width, height })
  return [head, session.phase === 'ended' ? '  it has not come to look at its list' : '  it is looking at its list']
}

export function notBegun({ name }: SessionView): Error {
  return refusal('no-loop', `${name} has not looked at its list yet`, `oneshot status ${name}`)
}
