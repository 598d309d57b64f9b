import type { Stats } from '../measure/stats.ts'
import type { NotMeasured } from '../peers/install.ts'

export type Unit = 'ms' | 'MB' | 'MB/s' | 'ms/s' | 'copies'

export interface Measured {
  readonly value: number
  readonly unit: Unit
  /** Text in parentheses after the value. */
  readonly more?: string
}

/** Applies to oneshot's own value or to its ratio to the compared one. */
export interface Aim {
  readonly of: 'ours' | 'ratio'
  readonly is: 'below' | 'at most' | 'at least'
  readonly limit: number
}

export interface Row {
  readonly figure: string
  readonly ours: Measured
  readonly beside?: { readonly name: string; readonly theirs: Measured | NotMeasured }
  readonly aim?: Aim
}

export function ratioOf({ ours, beside }: Row): number | null {
  return beside === undefined || 'notMeasured' in beside.theirs ? null : ours.value / beside.theirs.value
}

/** Returns null if there is no aim, or if the compared value could not be measured. */
export function isMet(row: Row): boolean | null {
  if (row.aim === undefined) return null
  const value = row.aim.of === 'ours' ? row.ours.value : ratioOf(row)
  if (value === null) return null
  const { is, limit } = row.aim
  return is === 'below' ? value < limit : is === 'at most' ? value <= limit : value >= limit
}

export function milliseconds(stats: Stats): Measured {
  return { value: stats.median, unit: 'ms', more: `p99 ${round(stats.p99)}, n ${stats.n}` }
}

export function megabytes(bytes: number, more?: string): Measured {
  return { value: bytes / 1e6, unit: 'MB', ...(more === undefined ? {} : { more }) }
}

/** Rounds to three significant digits. */
export function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}
