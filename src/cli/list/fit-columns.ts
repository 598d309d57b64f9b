import { displayWidth } from '../../lib/text/display-width.ts'
import type { Column } from '../terminal/table.ts'
import { shortNames } from './short-names.ts'

/** The prefix of the name of a worker, which stands below its loop. */
export const BELOW = '└ '

const GAP = 2
/** In columns. A shorter name or title is not readable. */
const LEAST = 12
/** A too narrow terminal loses these columns first, in this order. */
const LEAST_WANTED = ['RESTARTS', 'AGENT', 'CREATED']

/**
 * Selects the columns of a list that fit into `width`: NAME and TITLE share the space that the others leave, and long
 * names become shorter.
 */
export function fitColumns<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): Column<Row>[] {
  let wanted = columns
  for (const header of LEAST_WANTED)
    if (roomIn(wanted, rows, width) < 2 * LEAST) wanted = wanted.filter(column => column.header !== header)
  const room = roomIn(wanted, rows, width)
  const title = Math.min(widest(wanted.at(-1), rows), Math.max(LEAST, Math.floor(room / 2)))
  return wanted.map(column =>
    column.header === 'NAME' ? shortened(column, rows, Math.max(LEAST, room - title)) : column,
  )
}

/** Returns the width that is left for NAME and TITLE. */
function roomIn<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): number {
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
