import type { LoopTaskState, LoopTaskView, LoopView } from '../../api/contract/loop-view.ts'
import { displayWidth, truncateToWidth } from '../../lib/text/display-width.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import { formatDuration } from '../../lib/time.ts'
import type { ColorName, Paint } from '../terminal/colors.ts'
import { type Column, renderTable } from '../terminal/table.ts'
import { hasCommand, noteLines } from './note-lines.ts'
import { type FoldedTasks, foldTasks, isFolded } from './fold-tasks.ts'
import type { SessionView } from '../../api/contract/responses.ts'
import type { Output } from '../terminal/output.ts'
import { stateLine } from '../session/format-session.ts'

const STATE_SYMBOLS: { readonly [S in LoopTaskState]: string } = {
  done: '✔',
  starting: '○',
  working: '●',
  resting: '◔',
  checking: '◐',
  merging: '◑',
  paused: '■',
  open: '◌',
  blocked: '▲',
}

/** The task is done, but no check passed. */
const UNTESTED_SYMBOL = '◇'

const STATE_COLORS: { readonly [S in LoopTaskState]: ColorName } = {
  done: 'green',
  starting: 'cyan',
  working: 'cyan',
  resting: 'yellow',
  checking: 'cyan',
  merging: 'cyan',
  paused: 'yellow',
  open: 'dim',
  blocked: 'magenta',
}

/** In columns. A narrower terminal shows only the most important columns. */
const NARROW_WIDTH = 72
const BAR_WIDTH = 24

/** Renders the board as lines: if possible at most `height` lines, with the least important tasks folded. */
export function boardLines(
  board: LoopView,
  head: string,
  paint: Paint,
  { width, height }: { width: number; height: number },
): string[] {
  const notes = allNoteLines(board, width, height)
  const facts = factLines(board, width).map(text => paint.dim(text))
  const header = [head, `  ${progressBar(board, paint, width)}`, ...facts, ...notes]
  const footer = [...blockedBranchLines(board, paint, width), ...nextCommandLines(board, paint, width)]
  const rows = foldTasks(board.tasks, height - header.length - footer.length - HEADER_LINES)
  if (rows.length === 0) return fitToHeight(header, [], footer, height)
  const columns = fixedColumns(width, paint)
  const table = renderTable([...columns, ...textColumns(columns, rows, width)], rows, { headers: true, width })
  return fitToHeight(header, ['', ...table], footer, height)
}

/** Part of a window that notes may take: its tasks need the rest. */
const NOTES_SHARE = 1 / 3

/**
 * Renders the notes, and the evidence of blocked tasks that gives a command: the table would cut it. In a window that is
 * too low for that, each note has one line.
 */
function allNoteLines(board: LoopView, width: number, height: number): string[] {
  const blocked = board.tasks.flatMap(({ id, state, evidence }): [string, string][] =>
    state === 'blocked' && evidence !== null && Number.isFinite(width) && hasCommand(evidence)
      ? [[`task ${id}`, evidence]]
      : [],
  )
  const notes = [...board.notes.map((note): [string, string] => ['note', note]), ...blocked]
  const isWrapped = Number.isFinite(height) // A line that is too long would shift a board that is redrawn in place.
  const lines = notes.flatMap(([label, text]) => noteLines(label, text, { width, isWrapped }))
  if (lines.length <= height * NOTES_SHARE) return lines
  return board.notes.map(note => truncateToWidth(`  note: ${toOneLine(note)}`, width))
}

/** Keeps the next command visible even in the smallest window. */
function fitToHeight(
  header: readonly string[],
  table: readonly string[],
  footer: readonly string[],
  height: number,
): string[] {
  const head = header.slice(0, Math.max(1, height - 1 - footer.length))
  const available = Math.max(0, height - 1 - footer.length - head.length)
  const body = table.length <= available ? table : available === 0 ? [] : [...table.slice(0, available - 1), '…']
  return [...head, ...body, ...footer]
}

/** Names the branches of the blocked tasks, which wait for a person. */
function blockedBranchLines({ tasks }: LoopView, paint: Paint, width: number): string[] {
  const blocked = tasks.filter(({ state, branch }) => state === 'blocked' && branch !== null)
  const lines = blocked.slice(0, MAX_BLOCKED_SHOWN).map(({ id, branch }) => `task ${id} is on ${branch}`)
  const more = blocked.length > MAX_BLOCKED_SHOWN ? [`and ${blocked.length - MAX_BLOCKED_SHOWN} more`] : []
  const shown = [...lines, ...more].map((text, index) =>
    truncateToWidth(`  ${index === 0 ? 'kept' : '    '}  ${text}`, width),
  )
  return shown.length === 0 ? [] : ['', ...shown.map(text => paint.dim(text))]
}

const MAX_BLOCKED_SHOWN = 4

/** Shows both commands on one line if they fit. */
function nextCommandLines({ next, also }: LoopView, paint: Paint, width: number): string[] {
  if (next === null) return []
  const both = `${next}, or ${also}`
  const commands = also === null ? [next] : displayWidth(both) + 8 <= width ? [both] : [next, `or ${also}`]
  return ['', ...commands.map((command, index) => `  ${index === 0 ? paint.dim('next') : '    '}  ${command}`)]
}

/** An empty line, the headers, and one line that a terminal reserves for the cursor. */
const HEADER_LINES = 3

function progressBar({ counts, tasks, secondsLeft, stage }: LoopView, paint: Paint, width: number): string {
  if (tasks.length === 0) return STAGE_TEXTS[stage]
  const busy = counts.starting + counts.working + counts.resting + counts.checking + counts.merging
  const size = Math.max(4, Math.min(BAR_WIDTH, width - 50))
  const full = Math.floor((size * counts.done) / tasks.length)
  const half = Math.min(size - full, Math.ceil((size * busy) / tasks.length))
  const bar = paint.green('█'.repeat(full)) + paint.cyan('▒'.repeat(half)) + '░'.repeat(size - full - half)
  const others = (['starting', 'working', 'resting', 'checking', 'merging', 'paused', 'blocked', 'open'] as const)
    .filter(state => counts[state] > 0)
    .map(state => `${counts[state]} ${state}`)
  const left =
    secondsLeft === null
      ? []
      : [secondsLeft < 60 ? 'less than a minute left' : `about ${roundedDuration(secondsLeft)} left`]
  const words = [`${counts.done} of ${tasks.length} done`, ...others, ...left].join(' · ')
  return `${bar}  ${truncateToWidth(words, width - size - 4)}`
}

const STAGE_TEXTS: { readonly [S in LoopView['stage']]: string } = {
  beginning: 'reading its list',
  planning: 'planning',
  review: 'the plan waits for you',
  working: 'there is no task in its list',
  landing: 'landing',
  ended: 'there is no task in its list',
}

/** An estimate to the second would claim too much precision. */
function roundedDuration(seconds: number): string {
  const minutes = Math.round(seconds / 60)
  return formatDuration((minutes < 20 ? minutes : Math.round(minutes / 5) * 5) * 60_000)
}

/** Uses as many lines as the width requires. */
function factLines(board: LoopView, width: number): string[] {
  const { list, agent, check, iterations, maxIterations, parallel, width: now, branch, landedAt, spent } = board
  const facts = [
    `${list ?? 'beads'} by ${agent}`,
    check === null ? 'no check' : `check: ${toOneLine(check.line)}`,
    `${iterations}${maxIterations === null ? '' : ` of ${maxIterations}`} ${iterations === 1 && maxIterations === null ? 'iteration' : 'iterations'}`,
    ...(spent.costUsd === null ? [] : [`$${spent.costUsd.toFixed(2)}`]),
    ...(parallel === null
      ? []
      : [now < parallel ? `${now} of ${parallel} at a time, after a limit` : `${parallel} at a time`]),
    ...(branch === null ? [] : [`${landedAt === null ? 'branch' : 'landed from'} ${branch}`]),
  ]
  const lines: string[] = []
  for (const fact of facts) {
    const last = lines.at(-1)
    const longer = `${last} · ${fact}`
    if (last !== undefined && displayWidth(longer) <= Math.min(width, 100)) lines[lines.length - 1] = longer
    else lines.push(truncateToWidth(`  ${fact}`, width))
  }
  return lines
}

type BoardRow = LoopTaskView | FoldedTasks

function rowSymbol(row: BoardRow): string {
  const isUntested = row.state === 'done' && (isFolded(row) ? !row.isChecked : row.proof !== 'checked')
  return isUntested ? UNTESTED_SYMBOL : STATE_SYMBOLS[row.state]
}

function fixedColumns(width: number, paint: Paint): Column<BoardRow>[] {
  const taskText = (text: (task: LoopTaskView) => string) => (row: BoardRow) => (isFolded(row) ? '' : text(row))
  const columns: Column<BoardRow>[] = [
    { header: 'NO', text: row => (isFolded(row) ? '…' : row.id) },
    {
      header: 'STATE',
      text: row => `${rowSymbol(row)} ${row.state}`,
      color: (text, row) => paint[STATE_COLORS[row.state]](text),
    },
  ]
  if (width < NARROW_WIDTH) return columns
  return [
    ...columns,
    { header: 'TRIES', text: taskText(({ tries }) => (tries === 0 ? '-' : String(tries))) },
    { header: 'COST', text: taskText(({ costUsd }) => (costUsd === null ? '-' : `$${costUsd.toFixed(2)}`)) },
    { header: 'TIME', text: taskText(({ seconds, tries }) => (tries === 0 ? '-' : formatDuration(seconds * 1000))) },
  ]
}

/** Title and evidence share the remaining width; the title shrinks last. */
function textColumns(fixed: readonly Column<BoardRow>[], rows: readonly BoardRow[], width: number): Column<BoardRow>[] {
  const usedWidth = fixed
    .map(({ header, text }) => Math.max(header.length, ...rows.map(row => displayWidth(text(row)))) + 2)
    .reduce((sum, width) => sum + width, 0)
  const title = (row: BoardRow): string => (isFolded(row) ? `${row.count} more` : toOneLine(row.title))
  const evidence = (row: BoardRow): string => (isFolded(row) ? '' : toOneLine(row.evidence ?? row.session ?? ''))
  const evidenceWidth = Math.max('EVIDENCE'.length, ...rows.map(row => displayWidth(evidence(row)))) + 2
  const titleWidth = Math.max(12, Math.floor((width - usedWidth) / 2), width - usedWidth - evidenceWidth)
  if (width < NARROW_WIDTH)
    return [{ header: 'TASK', text: row => [title(row), evidence(row)].filter(text => text !== '').join(': ') }]
  return [
    { header: 'TASK', text: row => (Number.isFinite(width) ? truncateToWidth(title(row), titleWidth) : title(row)) },
    { header: 'EVIDENCE', text: evidence },
  ]
}

/** Renders the board, or the known facts before there is one. */
export function sessionBoardLines(
  session: SessionView,
  board: LoopView | undefined,
  out: Output,
  height = Number.POSITIVE_INFINITY,
): string[] {
  if (board !== undefined) {
    const isUntested = board.outcome === 'done' && board.tasks.some(({ proof }) => proof === 'changed')
    const head = stateLine({ ...session, reason: board.reason }, out.paint, isUntested ? UNTESTED_SYMBOL : undefined)
    return boardLines(board, head, out.paint, { width: out.width, height })
  }
  const head = stateLine(session, out.paint)
  return [head, session.phase === 'ended' ? '  it has not read its list' : '  it is reading its list']
}
