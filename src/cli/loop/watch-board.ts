import { toJsonLine } from '../terminal/format.ts'
import type { LoopView } from '../../api/contract/loop-view.ts'
import type { SessionView } from '../../api/contract/responses.ts'
import { readBoard, watchBoard } from '../../views/loop/read-board.ts'
import { readSession } from '../../views/read-session.ts'
import type { Home } from '../../state/home.ts'
import { INTERRUPTED, untilInterrupted } from '../terminal/interrupts.ts'
import type { Output } from '../terminal/output.ts'
import type { CommandContext } from '../context.ts'
import { sessionBoardLines } from './board.ts'

/** Enters the alternate screen and hides the cursor. */
const ENTER_ALTERNATE_SCREEN = '\u001b[?1049h\u001b[?25l'
const LEAVE_ALTERNATE_SCREEN = '\u001b[?25h\u001b[?1049l'

/**
 * Shows a board as it changes, until the loop has ended or the user leaves. On a terminal it redraws in place and
 * leaves the last board there; elsewhere it prints each board after the one before, as JSON one per line.
 */
export async function watchBoardUntilEnd(
  session: SessionView,
  { home, screen }: CommandContext,
  { isJson }: { isJson: boolean },
): Promise<number> {
  const { out } = screen
  const isInPlace = out.isTerminal && !isJson
  const show = isInPlace ? inPlacePrinter(out) : appendingPrinter(out, isJson)
  if (isInPlace) await out.write(Buffer.from(ENTER_ALTERNATE_SCREEN))
  try {
    const outcome = await untilInterrupted(screen, { outlet: out }, async signal => {
      for await (const update of watchBoard(home, session, signal)) await show(update.session, update.board)
    })
    return outcome.ended === 'interrupted' ? INTERRUPTED : 0
  } finally {
    if (isInPlace) await leaveAlternateScreen(home, session, out)
  }
}

/** Prints the last board on the normal screen. */
async function leaveAlternateScreen(home: Home, session: SessionView, out: Output): Promise<void> {
  await out.write(Buffer.from(LEAVE_ALTERNATE_SCREEN))
  const last = readSession(home, session.id) ?? session
  for (const text of sessionBoardLines(last, readBoard(home, last, Date.now()), out)) out.printLine(text)
}

type BoardPrinter = (session: SessionView, board: LoopView | undefined) => Promise<void>

function inPlacePrinter(out: Output): BoardPrinter {
  let shown = ''
  return async (session, board) => {
    const lines = sessionBoardLines(session, board, out, out.height).slice(0, out.height - 1)
    const text = lines.join('\n')
    if (text !== shown) await out.redraw(lines)
    shown = text
  }
}

/** Does not print a board again if only its times have changed. */
function appendingPrinter(out: Output, isJson: boolean): BoardPrinter {
  let shown = ''
  return async (session, board) => {
    const withoutTimes = { ...board, secondsLeft: 0, tasks: board?.tasks.map(task => ({ ...task, seconds: 0 })) }
    const comparable = JSON.stringify([session.phase, session.reason, withoutTimes])
    if (comparable === shown || (isJson && board === undefined)) return
    const text = isJson
      ? toJsonLine(board)
      : [...(shown === '' ? [] : ['']), ...sessionBoardLines(session, board, out)].join('\n')
    shown = comparable
    out.printLine(text)
  }
}
