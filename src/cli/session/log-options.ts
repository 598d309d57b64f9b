import { refusal } from '../../api/contract/problems.ts'
import type { SessionView } from '../../api/contract/session-view.ts'
import type { readLog } from '../../views/log.ts'
import type { Line } from '../line/line.ts'
import type { Outlet } from '../screen/outlet.ts'
import { instantOf } from '../table/kinds.ts'
import { OPTIONS } from '../table/options.ts'
import { shownName } from './state.ts'

export type LogOptions = Parameters<typeof readLog>[2]

export function logOptions(line: Line, session: SessionView, out: Outlet): LogOptions {
  const lines = line.value(OPTIONS.lines) ?? line.value(OPTIONS.tail)
  const since = line.value(OPTIONS.since)
  const attempt = line.value(OPTIONS.attempt)
  if (attempt !== undefined && attempt > session.attempt) {
    throw refusal(
      'usage',
      `${shownName(session)} has had ${session.attempt} attempts, not ${attempt}`,
      `oneshot status ${shownName(session)}`,
    )
  }
  return {
    raw: line.has(OPTIONS.raw),
    colour: out.isColoured,
    ...(typeof lines === 'number' && { lines }),
    ...(since !== undefined && { since: instantOf(since, Date.now()) }),
    ...(attempt !== undefined && { attempt }),
  }
}
