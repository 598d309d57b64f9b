import type { LoopTaskState, LoopTaskView, LoopView } from '../../api/contract/loop-view.ts'
import { cutToWidth, displayWidth } from '../../lib/display-width.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import { formatDuration } from '../../lib/time.ts'
import type { Paint, Shade } from '../screen/paint.ts'
import { type Column, renderTable } from '../screen/table.ts'
import { foldTasks, isFold, type Fold } from './fold-tasks.ts'

const SYMBOLS: { readonly [S in LoopTaskState]: string } = {
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

/** Done, and no check passed. */
export const UNTESTED = '◇'

const SHADES: { readonly [S in LoopTaskState]: Shade } = {
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

/** Below this many columns only what matters most is shown. */
const NARROW = 72
const BAR = 24

/** The board as lines. `height`: no more of them than this, if that can be, the least telling tasks folded together. */
export function boardLines(
  board: LoopView,
  head: string,
  paint: Paint,
  { width, height }: { width: number; height: number },
): string[] {
  const notes = board.notes.map(note => cutToWidth(`  note: ${oneLine(note)}`, width))
  const facts = factsOf(board, width).map(text => paint.dim(text))
  const above = [head, `  ${barOf(board, paint, width)}`, ...facts, ...notes]
  const next = [...keptLines(board, paint, width), ...nextLines(board, paint, width)]
  const rows = foldTasks(board.tasks, height - above.length - next.length - HEADERS)
  if (rows.length === 0) return fitted(above, [], next, height)
  const columns = columnsFor(width, paint)
  const table = renderTable([...columns, ...wordy(columns, rows, width)], rows, { headers: true, width })
  return fitted(above, ['', ...table], next, height)
}

/** In the smallest window what comes next is still seen. */
function fitted(above: readonly string[], table: readonly string[], next: readonly string[], height: number): string[] {
  const head = above.slice(0, Math.max(1, height - 1 - next.length))
  const room = Math.max(0, height - 1 - next.length - head.length)
  const body = table.length <= room ? table : room === 0 ? [] : [...table.slice(0, room - 1), '…']
  return [...head, ...body, ...next]
}

/** Where the work is that was set aside for a person. */
function keptLines({ tasks }: LoopView, paint: Paint, width: number): string[] {
  const kept = tasks.filter(({ state, branch }) => state === 'blocked' && branch !== null)
  const lines = kept.slice(0, KEPT).map(({ id, branch }) => `task ${id} is on ${branch}`)
  const more = kept.length > KEPT ? [`and ${kept.length - KEPT} more`] : []
  const shown = [...lines, ...more].map((text, n) => cutToWidth(`  ${n === 0 ? 'kept' : '    '}  ${text}`, width))
  return shown.length === 0 ? [] : ['', ...shown.map(text => paint.dim(text))]
}

const KEPT = 4

/** Both on one line where that fits. */
function nextLines({ next, also }: LoopView, paint: Paint, width: number): string[] {
  if (next === null) return []
  const both = `${next}, or ${also}`
  const ways = also === null ? [next] : displayWidth(both) + 8 <= width ? [both] : [next, `or ${also}`]
  return ['', ...ways.map((way, n) => `  ${n === 0 ? paint.dim('next') : '    '}  ${way}`)]
}

/** An empty line, the headers, and one that a terminal keeps for the cursor. */
const HEADERS = 3

function barOf({ counts, tasks, secondsLeft, stage }: LoopView, paint: Paint, width: number): string {
  if (tasks.length === 0) return STAGES[stage]
  const busy = counts.starting + counts.working + counts.resting + counts.checking + counts.merging
  const size = Math.max(4, Math.min(BAR, width - 50))
  const full = Math.floor((size * counts.done) / tasks.length)
  const half = Math.min(size - full, Math.ceil((size * busy) / tasks.length))
  const bar = paint.green('█'.repeat(full)) + paint.cyan('▒'.repeat(half)) + '░'.repeat(size - full - half)
  const others = (['starting', 'working', 'resting', 'checking', 'merging', 'paused', 'blocked', 'open'] as const)
    .filter(state => counts[state] > 0)
    .map(state => `${counts[state]} ${state}`)
  const left =
    secondsLeft === null ? [] : [secondsLeft < 60 ? 'less than a minute left' : `about ${roughly(secondsLeft)} left`]
  const words = [`${counts.done} of ${tasks.length} done`, ...others, ...left].join(' · ')
  return `${bar}  ${cutToWidth(words, width - size - 4)}`
}

const STAGES: { readonly [S in LoopView['stage']]: string } = {
  beginning: 'reading its list',
  planning: 'planning',
  review: 'the plan waits for you',
  working: 'there is no task in its list',
  landing: 'landing',
  ended: 'there is no task in its list',
}

/** An estimate to the second would be a lie. */
function roughly(seconds: number): string {
  const minutes = Math.round(seconds / 60)
  return formatDuration((minutes < 20 ? minutes : Math.round(minutes / 5) * 5) * 60_000)
}

/** As many lines as the width asks for. */
function factsOf(board: LoopView, width: number): string[] {
  const { list, agent, check, iterations, maxIterations, parallel, width: now, branch, landedAt, spent } = board
  const facts = [
    `${list ?? 'beads'} by ${agent}`,
    check === null ? 'no check' : `check: ${oneLine(check.line)}`,
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
    else lines.push(cutToWidth(`  ${fact}`, width))
  }
  return lines
}

type Row = LoopTaskView | Fold

function symbolOf(row: Row): string {
  const isUntested = row.state === 'done' && (isFold(row) ? !row.isChecked : row.proof !== 'checked')
  return isUntested ? UNTESTED : SYMBOLS[row.state]
}

function columnsFor(width: number, paint: Paint): Column<Row>[] {
  const of = (text: (task: LoopTaskView) => string) => (row: Row) => (isFold(row) ? '' : text(row))
  const columns: Column<Row>[] = [
    { header: 'NO', text: row => (isFold(row) ? '…' : row.id) },
    {
      header: 'STATE',
      text: row => `${symbolOf(row)} ${row.state}`,
      paint: (text, row) => paint[SHADES[row.state]](text),
    },
  ]
  if (width < NARROW) return columns
  return [
    ...columns,
    { header: 'TRIES', text: of(({ tries }) => (tries === 0 ? '-' : String(tries))) },
    { header: 'COST', text: of(({ costUsd }) => (costUsd === null ? '-' : `$${costUsd.toFixed(2)}`)) },
    { header: 'TIME', text: of(({ seconds, tries }) => (tries === 0 ? '-' : formatDuration(seconds * 1000))) },
  ]
}

/** Title and evidence share what room there is; the title gives way last. */
function wordy(fixed: readonly Column<Row>[], rows: readonly Row[], width: number): Column<Row>[] {
  const taken = fixed
    .map(({ header, text }) => Math.max(header.length, ...rows.map(row => displayWidth(text(row)))) + 2)
    .reduce((sum, one) => sum + one, 0)
  const title = (row: Row): string => (isFold(row) ? `${row.count} more` : oneLine(row.title))
  const evidence = (row: Row): string => (isFold(row) ? '' : oneLine(row.evidence ?? row.session ?? ''))
  const shown = Math.max('EVIDENCE'.length, ...rows.map(row => displayWidth(evidence(row)))) + 2
  const most = Math.max(12, Math.floor((width - taken) / 2), width - taken - shown)
  if (width < NARROW)
    return [{ header: 'TASK', text: row => [title(row), evidence(row)].filter(text => text !== '').join(': ') }]
  return [
    { header: 'TASK', text: row => (Number.isFinite(width) ? cutToWidth(title(row), most) : title(row)) },
    { header: 'EVIDENCE', text: evidence },
  ]
}
