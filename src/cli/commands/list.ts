import type { SessionView } from '../../api/contract/responses.ts'
import { toOneLine } from '../../lib/text/terminal-text.ts'
import { readSessions } from '../../views/sessions.ts'
import { describeCost, displayState, renderState } from '../../views/session-state.ts'
import { isLive, sortByRelevance, withoutWorkers } from '../session/find-session.ts'
import { BELOW, fitColumns } from '../list/fit-columns.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { relativeTime, toJson } from '../terminal/format.ts'
import type { Screen } from '../terminal/screen.ts'
import { type Column, renderTable } from '../terminal/table.ts'
import { colorState, shownName } from '../session/format.ts'
import { type Command, type CommandContext, currentDirectory } from '../context.ts'
import { OPTIONS } from '../args/options.ts'

export const command: Command = {
  name: 'list',
  aliases: ['ls', 'ps'],
  group: 'Look',
  order: 10,
  summary: 'list all sessions, live ones first',
  about: `The sessions that a loop has started are listed below it while they live; with --all
those that have ended, too. With --json every session is printed. Sessions that share
a name are shown with their ids, which every command takes instead of a name.`,
  arguments: [],
  options: [
    OPTIONS.all,
    OPTIONS.live,
    OPTIONS.here,
    OPTIONS.state,
    OPTIONS.watchList,
    OPTIONS.output,
    OPTIONS.noHeaders,
    OPTIONS.noTrunc,
    OPTIONS.json,
  ],
  examples: [
    { argv: ['list'], description: 'all of them' },
    { argv: ['list', '--here', '--live'], description: 'live sessions of this directory' },
    { argv: ['list', '-q', '--live'], description: 'names only, for scripts' },
    { argv: ['list', '--state', 'failed'], description: 'only those that failed' },
    { argv: ['list', '--json'], description: 'everything that is known, as an array' },
  ],
  run: list,
}

async function list(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { screen } = context
  if (args.has(OPTIONS.watchList)) {
    const { redrawUntilInterrupted: watchList } = await import('../terminal/live-view.ts')
    return await watchList(screen, () => {
      const { rows, others } = selectRows(args, context)
      return rows.length === 0 ? [emptyListMessage(others)] : renderSessions(rows, args, screen)
    })
  }
  const { all, rows, others } = selectRows(args, context)
  if (args.has(OPTIONS.json)) screen.out.printLine(toJson(all))
  else if (screen.isQuiet) for (const { session } of rows) screen.out.printLine(session.name)
  else if (rows.length > 0) screen.out.printLine(renderSessions(rows, args, screen).join('\n'))
  else if (screen.err.isTerminal) screen.err.printLine(emptyListMessage(others))
  return 0
}

/** Returns the selected sessions; `others` are those that the filters exclude. */
function selectRows(
  args: ParsedArgs,
  context: CommandContext,
): { all: SessionView[]; rows: SessionRow[]; others: SessionView[] } {
  const cwd = args.has(OPTIONS.here) ? currentDirectory(context) : null
  const state = args.value(OPTIONS.state)
  const all = sortByRelevance(readSessions(context.home))
  const matches = (session: SessionView): boolean =>
    (cwd === null || session.cwd === cwd) &&
    (!args.has(OPTIONS.live) || isLive(session)) &&
    (state === undefined || displayState(session) === state)
  const rows = nestWorkers(all, { fits: matches, isWhole: args.has(OPTIONS.all) && !args.has(OPTIONS.live) })
  return { all: all.filter(matches), rows, others: all.filter(session => !matches(session)) }
}

function renderSessions(rows: readonly SessionRow[], args: ParsedArgs, { out }: Screen): string[] {
  const isWide = args.value(OPTIONS.output) === 'wide'
  const isTruncated = out.isTerminal && !isWide && !args.has(OPTIONS.noTrunc)
  const width = isTruncated ? out.width : Number.POSITIVE_INFINITY
  const fitted = (hasId: boolean): Column<SessionRow>[] => fitColumns(columnsFor(out, { isWide, hasId }), rows, width)
  const columns = isWide || areDistinct(fitted(false), rows) ? fitted(false) : fitted(true)
  return renderTable(columns, rows, { headers: !args.has(OPTIONS.noHeaders), width })
}

/** Returns true if each session has a distinct name on the screen. */
function areDistinct([name]: readonly Column<SessionRow>[], rows: readonly SessionRow[]): boolean {
  return new Set(rows.map(row => name?.text(row))).size === rows.length
}

function columnsFor(out: Screen['out'], { isWide, hasId }: { isWide: boolean; hasId: boolean }): Column<SessionRow>[] {
  const now = Date.now()
  const created = ({ createdAt }: SessionView): string => (out.isTerminal ? relativeTime(createdAt, now) : createdAt)
  return [
    { header: 'NAME', text: ({ session, isBelow }) => `${isBelow ? BELOW : ''}${shownName(session)}` },
    ...(hasId ? plainColumns({ ID: session => session.id }) : []),
    {
      header: 'STATE',
      text: ({ session }) => renderState(session),
      color: (text, { session }) => colorState(text, session, out.paint),
    },
    ...plainColumns({
      AGENT: session => session.agent,
      CREATED: created,
      RESTARTS: session => String(session.restarts),
    }),
    ...(isWide ? WIDE_COLUMNS : []),
    ...plainColumns({ TITLE: session => toOneLine(session.title) }),
  ]
}

const WIDE_COLUMNS = plainColumns({
  COST: describeCost,
  PID: session => String(session.pid ?? '-'),
  CWD: session => toOneLine(session.cwd),
  ID: session => session.id,
  THREAD: session => toOneLine(session.thread ?? '-'),
})

function plainColumns(columns: Readonly<Record<string, (session: SessionView) => string>>): Column<SessionRow>[] {
  return Object.entries(columns).map(([header, text]) => ({ header, text: ({ session }) => text(session) }))
}

function emptyListMessage(others: readonly SessionView[]): string {
  if (others.length === 0)
    return 'no sessions; start one with: oneshot run "fix the bug"   or: oneshot run -- pytest tests/'
  const ended = others.filter(session => !isLive(session)).length
  const counts = [`${others.length - ended} live`, `${ended} ended`].filter(text => !text.startsWith('0 '))
  return `no such sessions; there are others (${counts.join(', ')}): oneshot list`
}

export interface SessionRow {
  readonly session: SessionView
  /** True for a worker of the loop above. */
  readonly isBelow: boolean
}

/**
 * Lists sessions in their order, and below each loop its workers in the order of their creation: the live ones, or all
 * of them. `fits` filters the sessions without a listed parent.
 */
export function nestWorkers(
  sessions: readonly SessionView[],
  { fits: matches, isWhole: includesEnded }: { fits: (session: SessionView) => boolean; isWhole: boolean },
): SessionRow[] {
  return withoutWorkers(sessions)
    .filter(matches)
    .flatMap(session => [
      { session, isBelow: false },
      ...sessions
        .filter(({ parent }) => parent === session.id)
        .filter(worker => includesEnded || isLive(worker))
        .toSorted((a, b) => a.createdAt.localeCompare(b.createdAt))
        .map(worker => ({ session: worker, isBelow: true })),
    ])
}
