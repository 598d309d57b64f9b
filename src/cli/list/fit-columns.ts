import { displayWidth } from '../../lib/text/display-width.ts'
import type { Column } from '../terminal/table.ts'
import { shortNames } from './truncate-names.ts'

/** The prefix of the name of a worker, which stands below its loop. */
export const BELOW = '└ '

const GAP = 2
/** In columns. A shorter name or title is not readable. */
const MIN_TEXT_WIDTH = 12
/** A too narrow terminal loses these columns first, in this order. */
const DROP_ORDER = ['RESTARTS', 'AGENT', 'CREATED']

/**
 * Selects the columns of a list that fit into `width`: NAME and TITLE share the space that the others leave, and long
 * names become shorter.
 */
export function fitColumns<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): Column<Row>[] {
  if (width === Number.POSITIVE_INFINITY) return [...columns]
  let selected = columns
  for (const header of DROP_ORDER)
    if (remainingWidth(selected, rows, width) < 2 * MIN_TEXT_WIDTH)
      selected = selected.filter(column => column.header !== header)
  const available = remainingWidth(selected, rows, width)
  const title = Math.min(widest(selected.at(-1), rows), Math.max(MIN_TEXT_WIDTH, Math.floor(available / 2)))
  return selected.map(column =>
    column.header === 'NAME' ? shortened(column, rows, Math.max(MIN_TEXT_WIDTH, available - title)) : column,
  )
}

/** Returns the width that is left for NAME and TITLE. */
function remainingWidth<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): number {
  const others = columns.slice(1, -1).map(column => widest(column, rows) + GAP)
  return width - GAP - others.reduce((sum, one) => sum + one, 0)
}

function widest<Row>(column: Column<Row> | undefined, rows: readonly Row[]): number {
  if (column === undefined) return 0
  return Math.max(displayWidth(column.header), ...rows.map(row => displayWidth(column.text(row))))
}

function shortened<Row>(column: Column<Row>, rows: readonly Row[], width: number): Column<Row> {
  if (widest(column, rows) <= width) return column
  const prefixOf = (text: string): string => (text.startsWith(BELOW) ? BELOW : '')
  const names = rows.map(row => column.text(row)).map(text => text.slice(prefixOf(text).length))
  const short = shortNames(names, width - (rows.some(row => prefixOf(column.text(row)) !== '') ? BELOW.length : 0))
  return {
    ...column,
    text: row => {
      const prefix = prefixOf(column.text(row))
      const name = column.text(row).slice(prefix.length)
      return prefix + (short.get(name) ?? name)
    },
  }
}
