import type { SessionView } from '../../api/contract/responses.ts'
import { shownName } from '../../api/contract/shown-name.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import type { Home } from '../../state/home.ts'
import { countEnded, findLive } from '../../views/session-search.ts'
import { describeCost, renderState } from '../../views/describe-session.ts'
import { countHidden, nestWorkers, selectPages, type Selection, type SessionRow } from '../list/select-sessions.ts'
import { resolveTime } from '../args/value-types.ts'
import type { Output } from '../terminal/output.ts'
import { BELOW, fitColumns } from '../list/fit-columns.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { relativeTime, toJson } from '../terminal/format.ts'
import type { Screen } from '../terminal/command-streams.ts'
import { type Column, renderTable } from '../terminal/table.ts'
import { colorState } from '../session/format-session.ts'
import { type Command, type CommandContext, currentDirectory } from '../context.ts'
import { OPTIONS } from '../args/options.ts'

export const command: Command = {
  name: 'list',
  aliases: ['ls', 'ps'],
  group: 'Look',
  order: 10,
  summary: 'list the live sessions, and those that ended last',
  about: `The list shows all live sessions and the 20 that ended last; --all, --limit and --since
show more. --json and -q are for programs: they print every session unless you give
--limit or --since. The sessions that a loop has started are listed below it while they
live; with --all those that have ended, too. Sessions that share a name are shown with
their ids, which every command takes instead of a name.`,
  arguments: [],
  options: [
    OPTIONS.all,
    OPTIONS.limit,
    OPTIONS.endedSince,
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
    { argv: ['list'], description: 'live sessions, and the 20 that ended last' },
    { argv: ['list', '--since', '7d'], description: 'also all that ended in the last week' },
    { argv: ['list', '--here', '--live'], description: 'live sessions of this directory' },
    { argv: ['list', '-q', '--live'], description: 'names only, for scripts' },
    { argv: ['list', '--state', 'failed'], description: 'only those that failed' },
    { argv: ['list', '--json'], description: 'everything that is known, as an array' },
  ],
  run: list,
}

async function list(args: ParsedArgs, context: CommandContext): Promise<number> {
  const { screen, home } = context
  const selection = parseSelection(args, context)
  if (args.has(OPTIONS.watchList)) {
    const { redrawUntilInterrupted: watchList } = await import('../terminal/live-view.ts')
    return await watchList(screen, () => {
      const rows = [...rowPages(args, selection, home)].flat()
      if (rows.length === 0) return [emptyListMessage(home)]
      return [...renderSessions(rows, args, screen), ...hiddenNotice(home, selection)]
    })
  }
  if (args.has(OPTIONS.json)) await printJson(home, selection, screen.out)
  else await printTable(args, selection, context)
  return 0
}

/** Ended sessions in a list for people. Programs get all of them unless they ask for fewer. */
const ENDED_SHOWN = 20

function parseSelection(args: ParsedArgs, context: CommandContext): Selection {
  const since = args.value(OPTIONS.endedSince)
  const isForPrograms = args.has(OPTIONS.json) || context.screen.isQuiet
  const isWhole = args.has(OPTIONS.all) || since !== undefined || isForPrograms
  return {
    cwd: args.has(OPTIONS.here) ? currentDirectory(context) : null,
    state: args.value(OPTIONS.state),
    isLiveOnly: args.has(OPTIONS.live),
    endedLimit: args.value(OPTIONS.limit) ?? (isWhole ? null : ENDED_SHOWN),
    endedSince: since === undefined ? undefined : resolveTime(since, Date.now()),
    isFlat: args.has(OPTIONS.json),
  }
}

/** Writes one document, as `toJson` would, and holds one page of it at a time. */
async function printJson(home: Home, selection: Selection, out: Output): Promise<void> {
  let text = ''
  for (const page of selectPages(home, selection)) {
    if (text !== '') await out.write(Buffer.from(`${text},`))
    if (out.closed.aborted) return
    text = `${text === '' ? '[' : ''}${page.map(session => toJson([session]).slice(1, -2)).join(',')}`
  }
  out.printLine(text === '[' ? '[]' : `${text}\n]`)
}

async function printTable(args: ParsedArgs, selection: Selection, { home, screen }: CommandContext): Promise<void> {
  const { out, err, isQuiet } = screen
  let count = 0
  for (const rows of rowPages(args, selection, home)) {
    const lines = isQuiet ? rows.map(({ session }) => session.name) : renderSessions(rows, args, screen, count === 0)
    if (lines.length > 0) out.printLine(lines.join('\n'))
    if (count > 0) await out.write(NOTHING) // A slow reader holds the next page back.
    if (out.closed.aborted) return
    count += rows.length
  }
  if (isQuiet) return
  if (count === 0 && err.isTerminal) err.printLine(emptyListMessage(home))
  for (const notice of hiddenNotice(home, selection)) err.printLine(err.paint.dim(notice))
}

const NOTHING = new Uint8Array()

function* rowPages(args: ParsedArgs, selection: Selection, home: Home): Generator<SessionRow[]> {
  const withEnded = args.has(OPTIONS.all) && !selection.isLiveOnly
  for (const page of selectPages(home, selection)) yield nestWorkers(home, page, { withEnded })
}

function hiddenNotice(home: Home, selection: Selection): string[] {
  const hidden = countHidden(home, selection)
  const many = hidden === 1 ? '1 more ended session' : `${hidden} more ended sessions`
  return hidden === 0 ? [] : [`${many}: oneshot list --all, or --limit N, or --since 7d`]
}

function renderSessions(rows: readonly SessionRow[], args: ParsedArgs, { out }: Screen, isFirst = true): string[] {
  if (rows.length === 0) return []
  const isWide = args.value(OPTIONS.output) === 'wide'
  const isTruncated = out.isTerminal && !isWide && !args.has(OPTIONS.noTrunc)
  const width = isTruncated ? out.width : Number.POSITIVE_INFINITY
  const fitted = (hasId: boolean): Column<SessionRow>[] => fitColumns(columnsFor(out, { isWide, hasId }), rows, width)
  const columns = isWide || areDistinct(fitted(false), rows) ? fitted(false) : fitted(true)
  return renderTable(columns, rows, { headers: isFirst && !args.has(OPTIONS.noHeaders), width })
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

function emptyListMessage(home: Home): string {
  const [live, ended] = [findLive(home).length, countEnded(home)]
  if (live + ended === 0)
    return 'no sessions; start one with: oneshot run "fix the bug"   or: oneshot run -- pytest tests/'
  const counts = [`${live} live`, `${ended} ended`].filter(text => !text.startsWith('0 '))
  return `no session matches; there are ${counts.join(' and ')}: oneshot list --all`
}
