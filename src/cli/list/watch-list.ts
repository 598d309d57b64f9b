import { setTimeout as pause } from 'node:timers/promises'
import { INTERRUPTED, look } from '../look.ts'
import type { Screen } from '../screen/screen.ts'

const EVERY = 1_000
/** The alternate screen, without a cursor. */
const ENTER = '\u001b[?1049h\u001b[?25l'
const LEAVE = '\u001b[?25h\u001b[?1049l'

/** Draws a table again whenever it has changed, until Ctrl-C. On a terminal in place, elsewhere one after the other. */
export async function watchList({ out }: Screen, draw: () => readonly string[]): Promise<number> {
  let shown = ''
  const show = async (): Promise<void> => {
    const lines = out.isTerminal ? draw().slice(0, out.height - 1) : draw()
    const text = lines.join('\n')
    if (text !== shown && out.isTerminal) await out.draw(lines)
    else if (text !== shown) for (const line of lines) out.say(line)
    shown = text
  }
  if (out.isTerminal) await out.pour(Buffer.from(ENTER))
  try {
    const { ended } = await look({ outlet: out }, async signal => {
      while (!signal.aborted) {
        await show()
        await pause(EVERY, undefined, { signal })
      }
    })
    return ended === 'interrupted' ? INTERRUPTED : 0
  } finally {
    if (out.isTerminal) await out.pour(Buffer.from(LEAVE))
  }
}
