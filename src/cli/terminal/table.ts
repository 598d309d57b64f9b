import { truncateToWidth, displayWidth, padToWidth } from '../../lib/text/display-width.ts'

export interface Column<Row> {
  readonly header: string
  readonly text: (row: Row) => string
  readonly color?: (text: string, row: Row) => string
}

/** Renders aligned columns. Only the last column shrinks to fit the width, because it has the longest text. */
export function renderTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  options: { headers: boolean; width: number },
): string[] {
  const cells = rows.map(row => columns.map(column => column.text(row)))
  const widths = columns.map((column, index) =>
    Math.max(options.headers ? column.header.length : 0, ...cells.map(texts => displayWidth(texts[index] as string))),
  )
  const lines = cells.map((texts, index) =>
    renderRow(texts, widths, options.width, (text, column) => {
      const color = columns[column]?.color
      return color === undefined ? text : color(text, rows[index] as Row)
    }),
  )
  const headers = columns.map(column => column.header)
  return options.headers ? [renderRow(headers, widths, options.width, text => text), ...lines] : lines
}

const GAP = '  '

/** Adds colours last: their codes have no width. */
function renderRow(
  texts: readonly string[],
  widths: readonly number[],
  limit: number,
  color: (text: string, place: number) => string,
): string {
  let available = limit
  const parts: string[] = []
  texts.forEach((text, index) => {
    const isLast = index === texts.length - 1
    const bare = truncateToWidth(text, Math.max(0, available))
    const padded = isLast ? bare : padToWidth(bare, Math.min(widths[index] as number, Math.max(0, available)))
    parts.push(color(bare, index) + padded.slice(bare.length))
    available -= displayWidth(padded) + GAP.length
  })
  return parts.join(GAP).trimEnd()
}
