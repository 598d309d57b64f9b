import { readLog } from '../../views/log.ts'
import type { Line } from '../line/line.ts'
import { INTERRUPTED, look } from '../look.ts'
import { logOptions } from '../session/log-options.ts'
import { pickSession } from '../session/pick-session.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'
import { follow } from './follow.ts'

export async function log(line: Line, surroundings: Surroundings): Promise<number> {
  if (line.has(OPTIONS.follow)) return await follow(line, surroundings)
  const { out } = surroundings.screen
  const session = pickSession(surroundings, line.words[0])
  const glance = await look({ outlet: out }, async signal => {
    for await (const bytes of readLog(surroundings.home, session, logOptions(line, session, out))) {
      if (signal.aborted) break
      await out.pour(bytes)
    }
  })
  return glance.ended === 'interrupted' ? INTERRUPTED : 0
}
