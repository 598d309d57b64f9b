import type { Flaw, LoopTask, Try } from './loop.ts'

/** However different its failures are, no task gets more iterations than this many times the usual. */
const MOST = 2

/** Whether a task is given up on: the same failure again and again, or too many of any kind. */
export function isHopeless({ tries, pardoned }: Pick<LoopTask, 'tries' | 'pardoned'>, retries: number): boolean {
  const flaws = tries.slice(pardoned).flatMap(({ flaw }) => (flaw === null ? [] : [flaw]))
  return sameInARow(flaws) >= retries || flaws.length >= MOST * retries
}

function sameInARow(flaws: readonly Flaw[]): number {
  const kind = flaws.at(-1)?.kind
  const other = flaws.findLastIndex(flaw => flaw.kind !== kind)
  return flaws.length - 1 - other
}

/** What was tried so far, for whoever tries next: the newest last. */
export function flawsOf({ tries }: Pick<LoopTask, 'tries'>): readonly (Try & { readonly flaw: Flaw })[] {
  return tries.filter((one): one is Try & { readonly flaw: Flaw } => one.flaw !== null)
}
