import type { LoopTaskState, LoopTaskView } from '../../api/contract/loop-view.ts'

/** Several tasks of one state in one row. */
export interface FoldedTasks {
  readonly state: LoopTaskState
  readonly count: number
  /** A check passed for each of them. */
  readonly isChecked: boolean
}

export function isFolded(row: LoopTaskView | FoldedTasks): row is FoldedTasks {
  return 'count' in row
}

/** The states to fold first without space: done, then open. Running and blocked tasks are always visible. */
const FOLD_ORDER = ['done', 'open'] as const

/**
 * Folds the tasks into at most `maxRows` rows, if possible: the first of the done tasks, and the last of the open ones.
 */
export function foldTasks(tasks: readonly LoopTaskView[], maxRows: number): (LoopTaskView | FoldedTasks)[] {
  let rows: (LoopTaskView | FoldedTasks)[] = [...tasks]
  for (const state of FOLD_ORDER) {
    const excess = rows.length - Math.max(1, maxRows)
    if (excess <= 0) return rows
    rows = foldState(rows, state, excess + 1)
  }
  return rows
}

function foldState(
  rows: readonly (LoopTaskView | FoldedTasks)[],
  state: 'done' | 'open',
  count: number,
): (LoopTaskView | FoldedTasks)[] {
  const all = rows.filter(row => !isFolded(row) && row.state === state)
  const hidden = new Set(state === 'done' ? all.slice(0, count) : all.slice(-count))
  if (hidden.size < 2) return [...rows]
  const firstHidden = rows.findIndex(row => hidden.has(row))
  const isChecked = [...hidden].every(row => !isFolded(row) && row.proof === 'checked')
  return rows.flatMap((row, index) =>
    index === firstHidden ? [{ state, count: hidden.size, isChecked }] : hidden.has(row) ? [] : [row],
  )
}
