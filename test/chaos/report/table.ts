import type { Result } from './result.ts'

const HEADERS = ['fault', 'count', 'as it should be when', 'n', 'median', 'p99', 'max']

/** Renders faults × counts × recovery, one row each. */
function cellsOf({ rows }: Result): string[][] {
  return rows.map(({ fault, count, until, recovery }) => {
    const times =
      recovery === null
        ? ['', '', '', '']
        : [String(recovery.n), ...[recovery.median, recovery.p99, recovery.max].map(say)]
    return [fault, String(count), until, ...times]
  })
}

function say(milliseconds: number): string {
  return milliseconds >= 10_000 ? `${(milliseconds / 1_000).toFixed(1)} s` : `${milliseconds.toFixed(0)} ms`
}

export function textOf(result: Result): string {
  const cells = [HEADERS, ...cellsOf(result)]
  const widths = HEADERS.map((_, column) => Math.max(...cells.map(line => line[column]?.length ?? 0)))
  const table = cells.map(line =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  const totals = Object.entries(result.totals).map(
    ([what, count]) => `${count.toLocaleString('en').padStart(14)}  ${what}`,
  )
  const skipped = result.skipped.map(reason => `left out: ${reason}`)
  return [...table, '', ...totals, ...skipped].join('\n')
}

export function markdownOf(result: Result): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const table = [HEADERS, HEADERS.map(() => '---'), ...cellsOf(result)].map(line)
  const totals = Object.entries(result.totals).map(([what, count]) => line([what, count.toLocaleString('en')]))
  return [...table, '', line(['in all', 'count']), line(['---', '---:']), ...totals].join('\n')
}
