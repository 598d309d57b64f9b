import { type Aim, isMet, type Measured, ratioOf, type Row, round } from './row.ts'

const HEADERS = ['figure', 'ours', 'beside it', 'measured', 'ratio', 'aim', 'met'] as const

/** Renders every row as text, in the order of the headers. */
function cellsOf(rows: readonly Row[]): string[][] {
  return rows.map(row => {
    const ratio = ratioOf(row)
    const theirs = row.beside?.theirs
    const beside =
      theirs === undefined ? '' : 'notMeasured' in theirs ? `not measured: ${theirs.notMeasured}` : say(theirs)
    const met = isMet(row)
    return [
      row.figure,
      say(row.ours),
      row.beside?.name ?? '',
      beside,
      ratio === null ? '' : `${ratio.toFixed(2)}×`,
      row.aim === undefined ? '' : sayAim(row.aim, row.ours.unit),
      row.aim === undefined ? '' : met === null ? 'not known' : met ? 'yes' : 'NO',
    ]
  })
}

/** Renders a table for a terminal: columns as wide as their widest cell. */
export function textTable(rows: readonly Row[]): string {
  const cells = [[...HEADERS], ...cellsOf(rows)]
  const widths = HEADERS.map((_, column) => Math.max(...cells.map(line => line[column]?.length ?? 0)))
  const render = (line: readonly string[]): string =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  const [head = [], ...body] = cells
  return [render(head), widths.map(width => '─'.repeat(width)).join('  '), ...body.map(render)].join('\n')
}

export function markdownTable(rows: readonly Row[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(HEADERS), line(HEADERS.map(() => '---')), ...cellsOf(rows).map(line)].join('\n')
}

function say({ value, unit, more }: Measured): string {
  const amount = unit === 'copies' ? `${value} ${value === 1 ? 'copy' : 'copies'}` : `${round(value)} ${unit}`
  return `${amount}${more === undefined ? '' : ` (${more})`}`
}

function sayAim({ of, is, limit }: Aim, unit: string): string {
  const sign = { below: '<', 'at most': '≤', 'at least': '≥' }[is]
  return of === 'ratio' ? `${sign} ${limit}×` : `${sign} ${limit} ${unit}`
}
