import { ensureDaemon } from '../ensure-daemon.ts'
import type { Line } from '../line/line.ts'
import { afterSilence } from '../screen/after-silence.ts'
import { toJson } from '../screen/json.ts'
import { changeOf, leftOut } from '../session/change-of.ts'
import { pickSession } from '../session/pick-session.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'
import { shownName } from '../session/state.ts'

export async function checkpoint(line: Line, surroundings: Surroundings): Promise<number> {
  const { home, screen } = surroundings
  const { out } = screen
  const session = pickSession(surroundings, line.words[0])
  const { checkpoint: made, isNew } = await afterSilence(
    'saving the working tree …',
    screen,
    (await ensureDaemon(home)).checkpoint(session.id),
  )
  const said = isNew
    ? `checkpoint ${made.number}: ${changeOf(made)}`
    : `nothing has changed since checkpoint ${made.number}`
  if (line.has(OPTIONS.json)) out.say(toJson({ checkpoint: made, isNew }))
  else if (screen.isQuiet || !out.isTerminal) out.say(String(made.number))
  else out.say([`${out.paint.bold(shownName(session))}: ${said}`, ...made.leftOut.map(leftOut)].join('\n  '))
  return 0
}
