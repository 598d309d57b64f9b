import { ensureDaemon } from '../ensure-daemon.ts'
import type { Line } from '../line/line.ts'
import { toJson } from '../screen/json.ts'
import { pickSession } from '../session/pick-session.ts'
import { stateLine } from '../session/state.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

export async function rename(line: Line, surroundings: Surroundings): Promise<number> {
  const { home, screen } = surroundings
  const [word, name = ''] = line.words
  const session = pickSession(surroundings, word)
  const renamed = await (await ensureDaemon(home)).rename(session.id, { name })
  if (line.has(OPTIONS.json)) screen.out.say(toJson(renamed))
  else if (!screen.isQuiet) screen.out.say(stateLine(renamed, screen.out.paint))
  return 0
}
