import { setTimeout as pause } from 'node:timers/promises'
import { INTERRUPTED, untilInterrupted } from './interrupts.ts'
import type { Screen } from './command-streams.ts'

const REFRESH_INTERVAL = 1_000
/** Enters the alternate screen and hides the cursor. */
const ENTER_ALTERNATE_SCREEN = '\u001b[?1049h\u001b[?25l'
const LEAVE_ALTERNATE_SCREEN = '\u001b[?25h\u001b[?1049l'

/** Draws a table again whenever it has changed, until Ctrl-C: in place on a terminal, elsewhere one after the other. */
export async function redrawUntilInterrupted(screen: Screen, render: () => readonly string[]): Promise<number> {
  const { out } = screen
  let shown = ''
  const show = async (): Promise<void> => {
    const lines = out.isTerminal ? render().slice(0, out.height - 1) : render()
    const text = lines.join('\n')
    if (text !== shown && out.isTerminal) await out.redraw(lines)
    else if (text !== shown) for (const line of lines) out.printLine(line)
    shown = text
  }
  if (out.isTerminal) await out.write(Buffer.from(ENTER_ALTERNATE_SCREEN))
  try {
    const { ended } = await untilInterrupted(screen, { outlet: out }, async signal => {
      while (!signal.aborted) {
        await show()
        await pause(REFRESH_INTERVAL, undefined, { signal })
      }
    })
    return ended === 'interrupted' ? INTERRUPTED : 0
  } finally {
    if (out.isTerminal) await out.write(Buffer.from(LEAVE_ALTERNATE_SCREEN))
  }
}
