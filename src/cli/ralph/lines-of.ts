import type { LoopView } from '../../api/contract/loop-view.ts'
import type { SessionView } from '../../api/contract/session-view.ts'
import type { Outlet } from '../screen/outlet.ts'
import { stateLine } from '../session/state.ts'
import { boardLines, UNTESTED } from './board-lines.ts'

/** The board, or what is known before there is one. */
export function linesOf(
  session: SessionView,
  board: LoopView | undefined,
  out: Outlet,
  height = Number.POSITIVE_INFINITY,
): string[] {
  if (board !== undefined) {
    const isUntested = board.outcome === 'done' && board.tasks.some(({ proof }) => proof === 'changed')
    const head = stateLine({ ...session, reason: board.reason }, out.paint, isUntested ? UNTESTED : undefined)
    return boardLines(board, head, out.paint, { width: out.width, height })
  }
  const head = stateLine(session, out.paint)
  return [head, session.phase === 'ended' ? '  it has not read its list' : '  it is reading its list']
}
