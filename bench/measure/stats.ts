/** Statistics of many samples. Below a hundred samples the p99 is the largest of them. */
export interface Stats {
  readonly n: number
  readonly min: number
  readonly median: number
  readonly p99: number
}

export function statsOf(samples: readonly number[]): Stats {
  const sorted = [...samples].sort((a, b) => a - b)
  return { n: sorted.length, min: rank(sorted, 0), median: median(sorted), p99: rank(sorted, 0.99) }
}

function median(sorted: readonly number[]): number {
  const middle = (sorted.length - 1) / 2
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2
}

function rank(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}
