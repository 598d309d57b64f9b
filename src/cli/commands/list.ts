import type { SessionView } from '../../api/contract/session-view.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import { readSessions } from '../../views/sessions.ts'
import { describeCost } from '../../views/spent.ts'
import { stateLabel } from '../../views/state.ts'
import { isLive, likeliestFirst } from '../find-session.ts'
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
  const sessions = likeliestFirst(readSessions(home)).filter(
    session => (cwd === null || session.cwd === cwd) && (!line.has(OPTIONS.live) || isLive(session)),
  )
  if (line.has(OPTIONS.json)) screen.out.say(toJson(sessions))
  else if (screen.isQuiet) for (const session of sessions) screen.out.say(session.name)
  else if (sessions.length === 0) sayNothingThere(screen)
  else show(sessions, line, screen)
  return 0
}

function show(sessions: readonly SessionView[], line: Line, { out }: Screen): void {
  const isWide = line.value(OPTIONS.output) === 'wide'
  const isCut = out.isTerminal && !isWide && !line.has(OPTIONS.noTrunc)
  const width = isCut ? out.width : Number.POSITIVE_INFINITY
  const lines = renderTable(columnsFor(out, isWide), sessions, { headers: !line.has(OPTIONS.noHeaders), width })
  out.say(lines.join('\n'))
}

function columnsFor(out: Screen['out'], isWide: boolean): Column<SessionView>[] {
  const now = Date.now()
  const created: Column<SessionView> = {
    header: 'CREATED',
    text: session => (out.isTerminal ? relative(session.createdAt, now) : session.createdAt),
  }
  return [
    { header: 'NAME', text: session => session.name },
    { header: 'STATE', text: stateLabel, paint: (text, session) => paintState(text, session, out.paint) },
    { header: 'AGENT', text: session => session.agent },
    created,
    { header: 'RESTARTS', text: session => String(session.restarts) },
    ...(isWide ? WIDE_COLUMNS : []),
    { header: 'TITLE', text: session => oneLine(session.title) },
  ]
}

const WIDE_COLUMNS: readonly Column<SessionView>[] = [
  { header: 'COST', text: describeCost },
  { header: 'PID', text: session => String(session.pid ?? '-') },
  { header: 'CWD', text: session => oneLine(session.cwd) },
  { header: 'ID', text: session => session.id },
  { header: 'THREAD', text: session => oneLine(session.thread ?? '-') },
]

function sayNothingThere({ err }: Screen): void {
  if (!err.isTerminal) return
  err.say('no sessions; start one with: oneshot run "fix the bug"   or: oneshot run -- pytest tests/')
}
