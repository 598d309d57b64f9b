import type { Ratio, Run } from './series.ts'
import { findRatio } from './series.ts'

/** A ratio may be this much worse than in the committed report before the guard fails. */
const TOLERANCE = 1.2

export interface Comparison extends Ratio {
  /** The ratio in the committed report; undefined for a figure that the report does not have. */
  readonly before: number | undefined
  readonly isWorse: boolean
}

/** Compares measured ratios with those of the committed report. */
export function compareWithReport(measured: readonly Ratio[], report: Run): Comparison[] {
  return measured.map(row => {
    const before = findRatio(report.ratios, row)
    return { ...row, before, isWorse: before !== undefined && isWorse(row, before) }
  })
}

function isWorse({ ratio, isMoreBetter = false }: Ratio, before: number): boolean {
  return isMoreBetter ? ratio * TOLERANCE < before : ratio > before * TOLERANCE
}

/**
 * Returns the better of two measurements of the same figures. Other programs on the machine make a figure worse, never
 * better, so that the best of several measurements is the closest to the truth.
 */
export function bestOf(first: readonly Ratio[], second: readonly Ratio[]): Ratio[] {
  return first.map(row => {
    const again = findRatio(second, row)
    if (again === undefined) return row
    const pick = row.isMoreBetter === true ? Math.max : Math.min
    return { ...row, ratio: pick(row.ratio, again) }
  })
}

/** Renders one line for each comparison. */
export function describeComparison({ figure, beside, ratio, before, isWorse }: Comparison): string {
  const change = before === undefined ? 'new' : `${before.toFixed(2)}× in the report`
  return `${isWorse ? 'WORSE' : 'ok   '}  ${figure} / ${beside}: ${ratio.toFixed(2)}× (${change})`
}
