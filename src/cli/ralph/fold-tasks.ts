import type { LoopTaskState, LoopTaskView } from '../../api/contract/loop-view.ts'

/** Some tasks of one state, in one row. */
export interface Fold {
  readonly state: LoopTaskState
  readonly count: number
  /** A check passed for each of them. */
  readonly isChecked: boolean
}

export function isFold(row: LoopTaskView | Fold): row is Fold {
  return 'count' in row
}

/** What is folded first when there is no room: what is over, then what has not begun. What goes on or waits for a person is always shown. */
const LEAST_FIRST = ['done', 'open'] as const

/** The tasks in at most so many rows, as far as that can be: the first of those that are done go first, the last of those that are open. */
export function foldTasks(tasks: readonly LoopTaskView[], most: number): (LoopTaskView | Fold)[] {
  let rows: (LoopTaskView | Fold)[] = [...tasks]
  for (const state of LEAST_FIRST) {
    const excess = rows.length - Math.max(1, most)
    if (excess <= 0) return rows
    rows = folded(rows, state, excess + 1)
  }
  return rows
}

function folded(
  rows: readonly (LoopTaskView | Fold)[],
  state: 'done' | 'open',
  count: number,
): (LoopTaskView | Fold)[] {
  const all = rows.filter(row => !isFold(row) && row.state === state)
  const gone = new Set(state === 'done' ? all.slice(0, count) : all.slice(-count))
  if (gone.size < 2) return [...rows]
  const place = rows.findIndex(row => gone.has(row))
  const isChecked = [...gone].every(row => !isFold(row) && row.proof === 'checked')
  return rows.flatMap((row, at) =>
    at === place ? [{ state, count: gone.size, isChecked }] : gone.has(row) ? [] : [row],
  )
}
