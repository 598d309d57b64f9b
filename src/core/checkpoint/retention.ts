import type { Duration, Instant } from '../../lib/time.ts'
import type { Checkpoint, CheckpointTrigger } from './checkpoint.ts'

type Candidate = Pick<Checkpoint, 'number' | 'at' | 'trigger' | 'change'>

const MINUTE: Duration = 60_000
const HOUR: Duration = 60 * MINUTE
const DAY: Duration = 24 * HOUR

/**
 * Up to this age, retention keeps one checkpoint of each period of this length. Each length is a multiple of the one
 * before.
 */
const RETENTION_PERIODS: readonly { readonly age: Duration; readonly length: Duration }[] = [
  { age: DAY, length: 10 * MINUTE },
  { age: 7 * DAY, length: HOUR },
  { age: Number.POSITIVE_INFINITY, length: DAY },
]
const RETAIN_ALL_FOR: Duration = HOUR

/** Triggers that mark moments to which somebody may want to return. */
const LANDMARK_TRIGGERS: readonly CheckpointTrigger[] = ['start', 'stop', 'end', 'error', 'asked', 'restore']
const LANDMARK_AGE: Duration = 30 * DAY

/** Nobody looks through more checkpoints, and git lists them slowly. */
const MAX_CHECKPOINTS = 500

/**
 * Returns the numbers of the checkpoints to keep, given all, oldest first: the first and the last; those of the last
 * hour; landmarks for a month; and the last one of each period, where periods grow with age. If these are still too
 * many, landmarks go last. Early pruning removes nothing that later pruning would keep.
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

/**
 * Drops the checkpoints of the lowest rank, and among these the ones that leave the smallest gap; never the first or
 * last.
 */
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

/** Returns the rank; the lowest goes first. A landmark without a changed file only recorded the session's state. */
function retentionRank(one: Candidate | undefined, now: Instant): number {
  if (one === undefined) return 0
  if (isLandmark(one, now)) return one.change.files === 0 ? 1 : 3
  return now - one.at <= RETAIN_ALL_FOR ? 2 : 0
}

function gapAround(all: readonly Candidate[], at: number): Duration {
  return Math.abs((all[at + 1]?.at ?? 0) - (all[at - 1]?.at ?? 0))
}
