import type { LoopView } from '../../api/contract/loop-view.ts'
import type { SessionView } from '../../api/contract/session-view.ts'
import type { Outlet } from '../screen/outlet.ts'
import { stateLine } from '../session/state.ts'
import { boardLines } from './board-lines.ts'

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
