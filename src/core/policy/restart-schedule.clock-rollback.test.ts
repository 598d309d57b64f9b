import { expect, test } from 'vitest'
import { makeSpec, type SpecOverrides } from '../../../testkit/in-memory/simulation.ts'
import { createSession } from '../session/create.ts'
import { isClockRolledBack } from './restart-schedule.ts'
import { DEFAULT_TIMINGS } from '../session/supervisor-timings.ts'
import type { Phase, RestCause } from '../session/session-state.ts'

const NOW = 1_000_000_000
const HOUR = 3_600_000

function inPhase(phase: Phase, spec: SpecOverrides = {}): boolean {
  const { session } = createSession(makeSpec({ agent: 'talker', ...spec }), { hasPrompt: true })
  return isClockRolledBack({ ...session, phase }, NOW, DEFAULT_TIMINGS)
}

function resting(cause: RestCause, since: number, until: number): boolean {
  return inPhase({ name: 'resting', cause, reason: '', trouble: 'crash', since, until })
}

test('a rest that began later than now shows a clock that was set back; a rest under way does not', () => {
  expect(resting('crash', NOW + HOUR, NOW + HOUR + 100)).toBe(true)
  expect(resting('outage', NOW + HOUR, NOW + HOUR + 100)).toBe(true)
  expect(resting('crash', NOW - 50, NOW + 50)).toBe(false)
  expect(resting('outage', NOW - 50, NOW + HOUR)).toBe(false)
})

test('a rest after a crash that exceeds the longest delay shows it too, whenever it began: the decision came before the clock was set', () => {
  expect(resting('crash', NOW - 50, NOW + 2 * HOUR)).toBe(true)
  expect(resting('crash', NOW - 50, NOW + 64_000 * 1.25)).toBe(false)
})

test('a limit ends at a time of day, whatever the clock showed at its start', () => {
  expect(resting('limit', NOW + HOUR, NOW + 2 * HOUR)).toBe(false)
})

test('a stop waits no longer than its grace period', () => {
  const next = { kind: 'end', outcome: 'stopped', reason: '', trouble: 'stopped' } as const
  expect(inPhase({ name: 'stopping', step: 'interrupt', due: NOW + HOUR, next })).toBe(true)
  expect(inPhase({ name: 'stopping', step: 'interrupt', due: NOW + 60_000, next })).toBe(true)
  expect(
    inPhase({ name: 'stopping', step: 'interrupt', due: NOW + 60_000, next }, { supervision: { stopGrace: 60_000 } }),
  ).toBe(false)
  expect(inPhase({ name: 'stopping', step: 'sweep', due: NOW + DEFAULT_TIMINGS.sweepPatience, next })).toBe(false)
  expect(inPhase({ name: 'running', since: NOW + HOUR })).toBe(false)
})
