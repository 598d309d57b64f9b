import { withAttempt } from '../attempt.ts'
import { expect, test } from 'vitest'
import { makeSpec } from '../../../../testkit/in-memory/simulation.ts'
import { createSession } from '../create.ts'
import { decide } from '../decision-table.ts'
import { launchAttempt } from './attempt-start-and-turn.ts'
import { DEFAULT_TIMINGS } from '../supervisor-timings.ts'
import type { Session } from '../session-state.ts'
import type { AgentUpdate } from '../signals.ts'
import { NO_LIMITS, NO_USAGE, type Usage, totalUsage } from '../usage.ts'

const AT = 1_000

function hear(session: Session, ...updates: AgentUpdate[]): Session {
  const one = (now: Session, update: AgentUpdate): Session =>
    decide(now, { at: AT, type: 'agent.told', attempt: now.attempt.number, update }, DEFAULT_TIMINGS).session
  return updates.reduce(one, session)
}

function newborn(limits = NO_LIMITS): Session {
  const { session } = createSession(makeSpec({ agent: 'talker', supervision: { limits } }), { hasPrompt: true })
  return { ...session, phase: { name: 'running', since: 0 } }
}

function next(session: Session): Session {
  return { ...launchAttempt(session, AT).session, phase: { name: 'running', since: 0 } }
}

const spent = (scope: 'step' | 'attempt' | 'thread', spending: Partial<Usage>): AgentUpdate => ({
  type: 'spent',
  scope,
  spending: { ...NO_USAGE, ...spending },
})

test('steps add up, and an attempt’s own sum replaces them', () => {
  const steps = hear(newborn(), spent('step', { input: 10, usd: 1, turns: 1 }), spent('step', { input: 5, turns: 1 }))
  expect(steps.spending.attempt).toEqual({ input: 15, cached: 0, output: 0, usd: 1, turns: 2 })
  expect(hear(steps, spent('attempt', { input: 20, usd: 2, turns: 3 })).spending.attempt).toMatchObject({
    input: 20,
    usd: 2,
    turns: 3,
  })
})

test('a thread’s sum counts as the part that this attempt added to it', () => {
  const first = hear(newborn(), spent('step', { turns: 1 }), spent('thread', { input: 100, output: 10 }))
  expect(first.spending.attempt).toMatchObject({ input: 100, output: 10, turns: 1 })
  const second = hear(next(first), spent('step', { turns: 1 }), spent('thread', { input: 250, output: 15 }))
  expect(second.spending.attempt).toMatchObject({ input: 150, output: 5, turns: 1 })
  expect(totalUsage(second.spending)).toMatchObject({ input: 250, output: 15, turns: 2 })
})

test('the session shows open tools and a retry until they are over', () => {
  const tool: AgentUpdate = { type: 'tool-started', id: 'a', tool: 'Bash', summary: 'make' }
  const failure = { kind: 'overloaded', text: '529', resetAt: null, remedy: null } as const
  const busy = hear(newborn(), tool, { type: 'tool-started', id: 'b', tool: 'Read', summary: 'x' })
  expect(busy.attempt.activity.tools.map(open => open.id)).toEqual(['a', 'b'])
  expect(hear(busy, { type: 'tool-ended', id: 'a' }).attempt.activity.tools).toMatchObject([{ id: 'b', since: AT }])
  const trying = hear(newborn(), { type: 'retrying', failure })
  expect(trying.attempt.activity.retrying).toEqual(failure)
  expect(hear(trying, tool).attempt.activity.retrying).toBeNull()
  expect(hear(trying, spent('step', { turns: 1 })).attempt.activity.retrying).toBeNull()
  expect(next(busy).attempt.activity).toEqual({ tools: [], editedAt: null, retrying: null })
})

test('a new turn revokes the end of the previous one', () => {
  const ended = withAttempt(newborn(), { result: { ok: true, text: 'it' } })
  expect(hear(ended, { type: 'began' }).attempt.result).toBeNull()
})

test('the session records each kind of unknown output once, up to a limit', () => {
  const updates = Array.from({ length: 50 }, (_, n): AgentUpdate => ({ type: 'unknown', what: `event/${n % 30}` }))
  const { unknown } = hear(newborn(), ...updates)
  expect(unknown).toHaveLength(20)
  expect(new Set(unknown).size).toBe(20)
})

test.each([
  [{ usd: 2, tokens: null, turns: null }, 'the budget of $2 was reached: $3.00 were spent'],
  [{ usd: null, tokens: 100, turns: null }, 'the budget of 100 tokens was reached: 120 were used'],
  [{ usd: null, tokens: null, turns: 2 }, 'the limit of 2 turns was reached'],
])('beyond %j an agent that continues is stopped', (limits, reason) => {
  const rich = hear(newborn(limits), spent('step', { input: 100, output: 20, usd: 3, turns: 2 }))
  expect(rich.phase.name).toBe('running')
  const stopped = hear(rich, { type: 'tool-started', id: 'a', tool: 'Bash', summary: 'make' })
  expect(stopped.phase).toMatchObject({ name: 'stopping', next: { outcome: 'stopped', reason } })
})

test('an agent that starts more work after the interrupt because of its budget gets SIGTERM after a second', () => {
  const limits = { ...NO_LIMITS, turns: 2 }
  const tool = { type: 'tool-started', id: 'a', tool: 'Bash', summary: 'make' } as const
  const stopping = hear(newborn(limits), spent('step', { turns: 2 }), tool)
  const told = (at: number, update: AgentUpdate): ReturnType<typeof decide> =>
    decide(stopping, { at, type: 'agent.told', attempt: 1, update }, DEFAULT_TIMINGS)
  expect(told(AT + 999, tool).effects).toEqual([])
  expect(told(AT + 1_000, spent('step', { turns: 1 })).effects).toEqual([])
  expect(told(AT + 1_000, tool)).toMatchObject({
    session: { phase: { name: 'stopping', step: 'terminate' } },
    effects: [{ type: 'terminate', attempt: 1 }],
  })
})

test('an agent that a person stopped may start tools until its grace ends', () => {
  const tool = { type: 'tool-started', id: 'a', tool: 'Bash', summary: 'make' } as const
  const stop = { at: AT, type: 'user.stop', isNow: false } as const
  const stopping = decide(newborn(), stop, DEFAULT_TIMINGS).session
  const late = { at: AT + 4_000, type: 'agent.told', attempt: 1, update: tool } as const
  expect(decide(stopping, late, DEFAULT_TIMINGS).effects).toEqual([])
})
