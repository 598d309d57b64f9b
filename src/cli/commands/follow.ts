import type { Line } from '../line/line.ts'
import { followSession } from '../session/follow-session.ts'
import { logOptions } from '../session/log-options.ts'
import { pickSession } from '../session/pick-session.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

export async function follow(line: Line, surroundings: Surroundings): Promise<number> {
  const session = pickSession(surroundings, line.words[0])
  const log = logOptions(line, session, surroundings.screen.out)
  return await followSession(surroundings, session, { log, passStatus: line.has(OPTIONS.exitStatus) })
}
