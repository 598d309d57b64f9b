import { refusal } from '../../api/contract/problems.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import { iso } from '../../lib/time.ts'
import { type DebugReport, debugReport } from '../../views/debug-report.ts'
import type { Line } from '../line/line.ts'
import { toJson, toJsonLine } from '../screen/json.ts'
import { pickSession } from '../session/pick-session.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

const EVENTS = 50

/** Prints everything that a bug report about one session needs. */
export async function debug(line: Line, surroundings: Surroundings): Promise<number> {
  const { home, screen } = surroundings
  const { id, name } = pickSession(surroundings, line.words[0])
  const count = line.value(OPTIONS.lines) ?? EVENTS
  const report = debugReport(home, id, count === 'all' ? Number.POSITIVE_INFINITY : count)
  if (report === null) throw refusal('no-session', `the database has no record of ${name}`)
  if (line.has(OPTIONS.json)) screen.out.say(toJson(report))
  else for (const text of linesOf(report)) screen.out.say(text)
  return 0
}

function linesOf({ session, outbox, files, events }: DebugReport): string[] {
  const width = Math.max(0, ...files.map(file => file.path.length))
  return [
    'RECORD',
    ...toJson(session).split('\n'),
    '',
    'OUTBOX',
    ...(outbox.length === 0 ? ['(empty)'] : outbox.map(toJsonLine)),
    '',
    'FILES',
    ...files.map(({ path, bytes, modified, content }) => {
      const record = content === undefined ? '' : `  ${oneLine(content)}`
      return `${oneLine(path).padEnd(width)}  ${String(bytes).padStart(10)}  ${modified}${record}`
    }),
    '',
    'EVENTS',
    ...events.map(({ at, ...event }) => `${iso(at)}  ${toJsonLine(event)}`),
  ]
}
