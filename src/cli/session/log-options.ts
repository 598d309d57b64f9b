import type { readLog } from '../../views/log.ts'
import type { Line } from '../line/line.ts'
import type { Outlet } from '../screen/outlet.ts'
import { instantOf } from '../table/kinds.ts'
import { OPTIONS } from '../table/options.ts'

export type LogOptions = Parameters<typeof readLog>[2]

export function logOptions(line: Line, out: Outlet): LogOptions {
  const lines = line.value(OPTIONS.lines)
  const since = line.value(OPTIONS.since)
  const attempt = line.value(OPTIONS.attempt)
  return {
    raw: line.has(OPTIONS.raw),
    colour: out.isColoured,
    ...(typeof lines === 'number' && { lines }),
    ...(since !== undefined && { since: instantOf(since, Date.now()) }),
    ...(attempt !== undefined && { attempt }),
  }
}
