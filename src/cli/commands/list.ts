import type { SessionView } from '../../api/contract/session-view.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import { readSessions } from '../../views/sessions.ts'
import { describeCost } from '../../views/spent.ts'
import { stateLabel, stateOf } from '../../views/state.ts'
import { isLive, likeliestFirst } from '../find-session.ts'
import { belowLoops, type Row } from '../list/below-loops.ts'
import { BELOW, fitColumns } from '../list/fit-columns.ts'
import type { Line } from '../line/line.ts'
import { toJson } from '../screen/json.ts'
import type { Screen } from '../screen/screen.ts'
import { type Column, renderTable } from '../screen/table.ts'
import { relative } from '../screen/when.ts'
import { paintState, shownName } from '../session/state.ts'
import { here, type Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

export async function list(line: Line, surroundings: Surroundings): Promise<number> {
  const { screen, home } = surroundings
  if (line.has(OPTIONS.watchList)) {
    const { watchList } = await import('../list/watch-list.ts')
    return await watchList(screen, () => {
      const { rows, others } = chosen(line, readSessions(home))
      return rows.length === 0 ? [nothingThere(others)] : tableOf(rows, line, screen)
    })
  }
  const { all, rows, others } = chosen(line, readSessions(home))
  if (line.has(OPTIONS.json)) screen.out.say(toJson(all))
  else if (screen.isQuiet) for (const { session } of rows) screen.out.say(session.name)
  else if (rows.length > 0) screen.out.say(tableOf(rows, line, screen).join('\n'))
  else if (screen.err.isTerminal) screen.err.say(nothingThere(others))
  return 0
}

/** What was asked for; `others` have ended, or do not fit. */
function chosen(
  line: Line,
  sessions: readonly SessionView[],
): { all: SessionView[]; rows: Row[]; others: SessionView[] } {
  const cwd = line.has(OPTIONS.here) ? here() : null
  const state = line.value(OPTIONS.state)
  const all = likeliestFirst(sessions)
  const fits = (session: SessionView): boolean =>
    (cwd === null || session.cwd === cwd) &&
    (!line.has(OPTIONS.live) || isLive(session)) &&
    (state === undefined || stateOf(session) === state)
  const rows = belowLoops(all, { fits, isWhole: line.has(OPTIONS.all) && !line.has(OPTIONS.live) })
  return { all: all.filter(fits), rows, others: all.filter(session => !fits(session)) }
}

function tableOf(rows: readonly Row[], line: Line, { out }: Screen): string[] {
  const isWide = line.value(OPTIONS.output) === 'wide'
  const isCut = out.isTerminal && !isWide && !line.has(OPTIONS.noTrunc)
  const width = isCut ? out.width : Number.POSITIVE_INFINITY
  const fitted = (hasId: boolean): Column<Row>[] => fitColumns(columnsFor(out, { isWide, hasId }), rows, width)
  const columns = isWide || areDistinct(fitted(false), rows) ? fitted(false) : fitted(true)
  return renderTable(columns, rows, { headers: !line.has(OPTIONS.noHeaders), width })
}

/** Whether each session has a name of its own on the screen. */
function areDistinct([name]: readonly Column<Row>[], rows: readonly Row[]): boolean {
  return new Set(rows.map(row => name?.text(row))).size === rows.length
}

function columnsFor(out: Screen['out'], { isWide, hasId }: { isWide: boolean; hasId: boolean }): Column<Row>[] {
  const now = Date.now()
  const created = ({ createdAt }: SessionView): string => (out.isTerminal ? relative(createdAt, now) : createdAt)
  return [
    { header: 'NAME', text: ({ session, isBelow }) => `${isBelow ? BELOW : ''}${shownName(session)}` },
    ...(hasId ? plain({ ID: session => session.id }) : []),
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

function nothingThere(others: readonly SessionView[]): string {
  if (others.length === 0)
    return 'no sessions; start one with: oneshot run "fix the bug"   or: oneshot run -- pytest tests/'
  const ended = others.filter(session => !isLive(session)).length
  const counts = [`${others.length - ended} live`, `${ended} ended`].filter(text => !text.startsWith('0 '))
  return `no such sessions; there are others (${counts.join(', ')}): oneshot list`
}
