import type { Duration, Instant } from '../../lib/time.ts'
import type { Checkpoint, CheckpointTrigger } from './checkpoint.ts'

type Candidate = Pick<Checkpoint, 'number' | 'at' | 'trigger' | 'change'>

const MINUTE: Duration = 60_000
const HOUR: Duration = 60 * MINUTE
const DAY: Duration = 24 * HOUR

/** Up to which age one is kept of each span of which length. Each length is a multiple of the one before. */
const RETENTION_PERIODS: readonly { readonly age: Duration; readonly length: Duration }[] = [
  { age: DAY, length: 10 * MINUTE },
  { age: 7 * DAY, length: HOUR },
  { age: Number.POSITIVE_INFINITY, length: DAY },
]
const RETAIN_ALL_FOR: Duration = HOUR

/** Those that somebody may come back to by what they were made for. */
const LANDMARK_TRIGGERS: readonly CheckpointTrigger[] = ['start', 'stop', 'end', 'error', 'asked', 'restore']
const LANDMARK_AGE: Duration = 30 * DAY

/** More than that nobody looks through, and git shows them slowly. */
const MAX_CHECKPOINTS = 500

/**
 * The numbers of those that are still worth keeping, of all there are, oldest first: the first and the last; those of the last
 * hour; landmarks for a month; and the last one of ever longer spans the further back they lie. Where that is still too many,
 * landmarks are the last to go. What is thinned out early would not be kept later, either.
 */
export function selectRetained(all: readonly Candidate[], now: Instant): ReadonlySet<number> {
  const kept = all.filter((one, at) => isRetained(one, all[at + 1], now) || at === 0)
  return new Set(limitCount(MAX_CHECKPOINTS, kept, now).map(({ number }) => number))
}

function isRetained(one: Candidate, next: Candidate | undefined, now: Instant): boolean {
  const age = now - one.at
  if (next === undefined || age <= RETAIN_ALL_FOR || isLandmark(one, now)) return true
  const { length } = RETENTION_PERIODS.find(span => age <= span.age) ?? { length: DAY }
  return Math.floor(one.at / length) !== Math.floor(next.at / length)
}

function isLandmark({ trigger, at }: Candidate, now: Instant): boolean {
  return LANDMARK_TRIGGERS.includes(trigger) && now - at <= LANDMARK_AGE
}

/** Leaves out those that are worth least, and of these the ones whose absence makes the smallest gap; never the first or last. */
function limitCount(limit: number, all: readonly Candidate[], now: Instant): readonly Candidate[] {
  const kept = [...all]
  while (kept.length > limit) {
    let least = 1
    for (let at = 2; at < kept.length - 1; at++) {
      const byRank = retentionRank(kept[at], now) - retentionRank(kept[least], now)
      if (byRank < 0 || (byRank === 0 && gapAround(kept, at) < gapAround(kept, least))) least = at
    }
    kept.splice(least, 1)
  }
  return kept
}

/** The lower, the sooner it goes. A landmark without a changed file only told how things stood then. */
function retentionRank(one: Candidate | undefined, now: Instant): number {
  if (one === undefined) return 0
  if (isLandmark(one, now)) return one.change.files === 0 ? 1 : 3
  return now - one.at <= RETAIN_ALL_FOR ? 2 : 0
}

function gapAround(all: readonly Candidate[], at: number): Duration {
  return Math.abs((all[at + 1]?.at ?? 0) - (all[at - 1]?.at ?? 0))
}
