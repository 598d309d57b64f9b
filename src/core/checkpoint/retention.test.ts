import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type DiffStat, EMPTY_DIFF, CHECKPOINT_TRIGGERS, type CheckpointTrigger } from './checkpoint.ts'
import { selectRetained } from './retention.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const NOW = 1_800_000_000_000

const CHANGE: DiffStat = { files: 1, added: 1, removed: 0 }

type One = { number: number; at: number; trigger: CheckpointTrigger; change: DiffStat }

/** Generates checkpoints at random distances, up to now. */
const history = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 6 * HOUR }), fc.constantFrom(...CHECKPOINT_TRIGGERS)), {
    minLength: 1,
    maxLength: 300,
  })
  .map(steps => {
    let at = NOW
    const backwards = steps.map(([gap, trigger]) => {
      at -= gap
      return { at, trigger }
    })
    return backwards.reverse().map((one, index) => ({ ...one, number: index + 1, change: CHANGE }))
  })

const every = (gap: number, count: number, trigger: CheckpointTrigger = 'edit'): One[] =>
  Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    at: NOW - (count - index) * gap,
    trigger,
    change: CHANGE,
  }))

const thinned = (all: readonly One[], now: number): One[] => {
  const kept = selectRetained(all, now)
  return all.filter(({ number }) => kept.has(number))
}

test('the first, the last and all checkpoints of the last hour stay', () => {
  fc.assert(
    fc.property(history, all => {
      const kept = thinned(all, NOW)
      expect([kept[0], kept.at(-1)]).toEqual([all[0], all.at(-1)])
      const recent = (one: One): boolean => one.at >= NOW - HOUR
      expect(kept.filter(recent)).toEqual(all.filter(recent))
    }),
  )
})

test('landmarks stay for a month', () => {
  fc.assert(
    fc.property(history, all => {
      const isLandmark = ({ at, trigger }: One): boolean =>
        at >= NOW - 30 * DAY && !['edit', 'interval', 'news', 'restart'].includes(trigger)
      expect(thinned(all, NOW).filter(isLandmark)).toEqual(all.filter(isLandmark))
    }),
  )
})

test('one checkpoint stays of each ten minutes of a day, each hour of a week and each day before', () => {
  fc.assert(
    fc.property(history, all => {
      const kept = thinned(all, NOW)
      for (const { at } of all) {
        const span = NOW - at <= DAY ? 10 * MINUTE : NOW - at <= 7 * DAY ? HOUR : DAY
        const isOfSameSpan = (one: One): boolean => Math.floor(one.at / span) === Math.floor(at / span)
        expect(kept.some(isOfSameSpan)).toBe(true)
      }
    }),
  )
})

test('repeated pruning leads to the same result as one pruning', () => {
  fc.assert(
    fc.property(history, fc.array(fc.nat(3 * DAY), { maxLength: 5 }), (all, waits) => {
      let now = NOW
      let kept: One[] = all
      for (const wait of waits) {
        now += wait
        kept = thinned(kept, now)
      }
      expect(thinned(kept, now)).toEqual(thinned(all, now))
    }),
  )
})

test('years of work, and an hour of constant checkpoints, leave some hundreds', () => {
  expect(thinned(every(5 * MINUTE, 20_000), NOW).length).toBeLessThan(500)
  expect(thinned(every(MINUTE, 5_000, 'asked'), NOW)).toHaveLength(500)
  const breathless = thinned(every(1_000, 3_600), NOW)
  expect(breathless).toHaveLength(500)
  expect(breathless.at(-1)?.number).toBe(3_600)
})

test('a clock that was set back deletes nothing', () => {
  const all = every(MINUTE, 100).map(one => ({ ...one, at: one.at + 10 * DAY }))
  expect(thinned(all, NOW)).toEqual(all)
})

test('of too many, landmarks go last, and those without a changed file go first among them', () => {
  const busy = every(10_000, 900).map((one, index) => (index % 3 === 0 ? { ...one, trigger: 'asked' as const } : one))
  expect(thinned(busy, NOW).filter(({ trigger }) => trigger === 'asked')).toHaveLength(300)
  const empty = every(10_000, 900, 'end').map((one, index) => (index % 2 === 0 ? one : { ...one, change: EMPTY_DIFF }))
  expect(thinned(empty, NOW).filter(({ change }) => change.files > 0)).toHaveLength(450)
})
