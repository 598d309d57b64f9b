import type { SessionView } from '../../api/contract/session-view.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import { readSessions } from '../../views/sessions.ts'
import { describeCost } from '../../views/spent.ts'
import { stateLabel } from '../../views/state.ts'
import { isLive, likeliestFirst } from '../find-session.ts'
import { belowLoops, type Row } from '../list/below-loops.ts'
import type { Line } from '../line/line.ts'
import { toJson } from '../screen/json.ts'
import type { Screen } from '../screen/screen.ts'
import { type Column, renderTable } from '../screen/table.ts'
import { relative } from '../screen/when.ts'
import { paintState } from '../session/state.ts'
import { here, type Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

export async function list(line: Line, { screen, home }: Surroundings): Promise<number> {
  const cwd = line.has(OPTIONS.here) ? here() : null
  const all = likeliestFirst(readSessions(home))
  const fits = (session: SessionView): boolean =>
    (cwd === null || session.cwd === cwd) && (!line.has(OPTIONS.live) || isLive(session))
  const rows = belowLoops(all, { fits, isWhole: line.has(OPTIONS.all) && !line.has(OPTIONS.live) })
  if (line.has(OPTIONS.json)) screen.out.say(toJson(all.filter(fits)))
  else if (screen.isQuiet) for (const { session } of rows) screen.out.say(session.name)
  else if (rows.length === 0) sayNothingThere(screen)
  else show(rows, line, screen)
  return 0
}

function show(rows: readonly Row[], line: Line, { out }: Screen): void {
  const isWide = line.value(OPTIONS.output) === 'wide'
  const isCut = out.isTerminal && !isWide && !line.has(OPTIONS.noTrunc)
  const width = isCut ? out.width : Number.POSITIVE_INFINITY
  const lines = renderTable(columnsFor(out, isWide), rows, { headers: !line.has(OPTIONS.noHeaders), width })
  out.say(lines.join('\n'))
}

function columnsFor(out: Screen['out'], isWide: boolean): Column<Row>[] {
  const now = Date.now()
  const created = ({ createdAt }: SessionView): string => (out.isTerminal ? relative(createdAt, now) : createdAt)
  return [
    { header: 'NAME', text: ({ session, isBelow }) => `${isBelow ? '└ ' : ''}${session.name}` },
    {
      header: 'STATE',
      text: ({ session }) => stateLabel(session),
      paint: (text, { session }) => paintState(text, session, out.paint),
    },
    ...plain({ AGENT: session => session.agent, CREATED: created, RESTARTS: session => String(session.restarts) }),
    ...(isWide ? WIDE_COLUMNS : []),
    ...plain({ TITLE: session => oneLine(session.title) }),
  ]
}

const WIDE_COLUMNS = plain({
  COST: describeCost,
  PID: session => String(session.pid ?? '-'),
  CWD: session => oneLine(session.cwd),
  ID: session => session.id,
  THREAD: session => oneLine(session.thread ?? '-'),
})

function plain(columns: Readonly<Record<string, (session: SessionView) => string>>): Column<Row>[] {
  return Object.entries(columns).map(([header, text]) => ({ header, text: ({ session }) => text(session) }))
}

function sayNothingThere({ err }: Screen): void {
  if (!err.isTerminal) return
  err.say('no sessions; start one with: oneshot run "fix the bug"   or: oneshot run -- pytest tests/')
}
