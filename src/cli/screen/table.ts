import { cutToWidth, displayWidth, padToWidth } from '../../lib/display-width.ts'

export interface Column<Row> {
  readonly header: string
  readonly text: (row: Row) => string
  readonly paint?: (text: string, row: Row) => string
}

/** Lines of aligned columns. Only the last column gives way to the width, since it is the wordy one. */
export function renderTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  options: { headers: boolean; width: number },
): string[] {
  const cells = rows.map(row => columns.map(column => column.text(row)))
  const widths = columns.map((column, at) =>
    Math.max(options.headers ? column.header.length : 0, ...cells.map(texts => displayWidth(texts[at] as string))),
  )
  const lines = cells.map((texts, at) =>
    layOut(texts, widths, options.width, (text, place) => {
      const paint = columns[place]?.paint
      return paint === undefined ? text : paint(text, rows[at] as Row)
    }),
  )
  const headers = columns.map(column => column.header)
  return options.headers ? [layOut(headers, widths, options.width, text => text), ...lines] : lines
}

const GAP = '  '

/** Colour comes last: its codes have no width. */
function layOut(
  texts: readonly string[],
  widths: readonly number[],
  limit: number,
  paint: (text: string, place: number) => string,
): string {
  let room = limit
  const parts: string[] = []
  texts.forEach((text, at) => {
    const isLast = at === texts.length - 1
    const bare = cutToWidth(text, Math.max(0, room))
    const padded = isLast ? bare : padToWidth(bare, Math.min(widths[at] as number, Math.max(0, room)))
    parts.push(paint(bare, at) + padded.slice(bare.length))
    room -= displayWidth(padded) + GAP.length
  })
  return parts.join(GAP).trimEnd()
}
