import { toJsonLine } from '../screen/json.ts'
import type { LoopView } from '../../api/contract/loop-view.ts'
import type { SessionView } from '../../api/contract/session-view.ts'
import { readBoard, watchBoard } from '../../views/loops.ts'
import { readSession } from '../../views/sessions.ts'
import type { Home } from '../../world/os/home.ts'
import { INTERRUPTED, look } from '../look.ts'
import type { Outlet } from '../screen/outlet.ts'
import type { Surroundings } from '../surroundings.ts'
import { linesOf } from './lines-of.ts'

/** The screen beside the usual one, and no cursor on it. */
const ENTER = '\u001b[?1049h\u001b[?25l'
const LEAVE = '\u001b[?25h\u001b[?1049l'

/**
 * Shows a board as it changes, until the loop has ended or nobody looks any more. On a terminal it is redrawn in place and left there at the end;
 * elsewhere each board follows the one before, as JSON one a line.
 */
export async function watch(
  session: SessionView,
  { home, screen }: Surroundings,
  { isJson }: { isJson: boolean },
): Promise<number> {
  const { out } = screen
  const isInPlace = out.isTerminal && !isJson
  const show = isInPlace ? inPlace(out) : inTurn(out, isJson)
  if (isInPlace) await out.pour(Buffer.from(ENTER))
  try {
    const glance = await look({ outlet: out }, async signal => {
      for await (const seen of watchBoard(home, session, signal)) await show(seen.session, seen.board)
    })
    return glance.ended === 'interrupted' ? INTERRUPTED : 0
  } finally {
    if (isInPlace) await leave(home, session, out)
  }
}

/** The last board stays on the usual screen. */
async function leave(home: Home, session: SessionView, out: Outlet): Promise<void> {
  await out.pour(Buffer.from(LEAVE))
  const last = readSession(home, session.id) ?? session
  for (const text of linesOf(last, readBoard(home, last, Date.now()), out)) out.say(text)
}

type Show = (session: SessionView, board: LoopView | undefined) => Promise<void>

function inPlace(out: Outlet): Show {
  let shown = ''
  return async (session, board) => {
    const lines = linesOf(session, board, out, out.height).slice(0, out.height - 1)
    const text = lines.join('\n')
    if (text !== shown) await out.draw(lines)
    shown = text
  }
}

/** That time goes by is no news. */
function inTurn(out: Outlet, isJson: boolean): Show {
  let shown = ''
  return async (session, board) => {
    const timeless = { ...board, secondsLeft: 0, tasks: board?.tasks.map(task => ({ ...task, seconds: 0 })) }
    const news = JSON.stringify([session.phase, session.reason, timeless])
    if (news === shown || (isJson && board === undefined)) return
    const text = isJson
      ? toJsonLine(board)
      : [...(shown === '' ? [] : ['']), ...linesOf(session, board, out)].join('\n')
    shown = news
    out.say(text)
  }
}
