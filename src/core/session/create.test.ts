import { testThreadId } from '../../../testkit/core/ids.ts'
import { withAttempt } from './attempt.ts'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { specs } from '../../../testkit/core/arbitrary.ts'
import { makeSpec } from '../../../testkit/in-memory/simulation.ts'
import { createSession } from './create.ts'
import { launchAttempt } from './reactions/attempt-start-and-turn.ts'
import { checkBudget } from './usage.ts'

test('a new session launches its first attempt with the prompt', () => {
  fc.assert(
    fc.property(specs, spec => {
      const { session, events, effects } = createSession(spec, { hasPrompt: true })
      expect(session).toMatchObject({
        attempt: { number: 1 },
        phase: { name: 'starting', since: spec.createdAt },
        wanted: 'run',
      })
      expect(events.map(event => event.type)).toEqual(['session.created', 'attempt.launched', 'message.delivered'])
      expect(effects).toEqual([{ type: 'launch', attempt: 1 }])
    }),
  )
})

test('a command gets no input', () => {
  fc.assert(
    fc.property(specs, spec => {
      const { session, events } = createSession(spec, { hasPrompt: false })
      expect(session).toMatchObject({ messages: [], attempt: { input: null } })
      expect(events.map(event => event.type)).toEqual(['session.created', 'attempt.launched'])
    }),
  )
})

test('an imported session delivers a message that its conversation does not show after the interrupted turn', () => {
  const spec = makeSpec({ agent: 'talker' })
  const spent = { input: 10, cached: 0, output: 5, usd: 4, turns: 2 }
  const heritage = {
    messages: ['do it', 'and this', 'and that'],
    read: 1,
    spent,
    spentInThread: spent,
    tasks: [],
    reason: 'the machine is gone',
    transcript: 0,
  }
  const { session } = createSession(spec, {
    hasPrompt: true,
    thread: { id: testThreadId('t'), heard: 1 },
    importedState: heritage,
  })
  expect(session.messages.map(({ confirmedAt }) => confirmedAt !== null)).toEqual([true, false, false])
  expect(session.attempt.input).toMatchObject({ kind: 'continue' })
  const next = launchAttempt(withAttempt(session, { isTurnOver: true }), 1).session
  expect(next.attempt.input).toMatchObject({ kind: 'message', message: 2 })
  expect(checkBudget({ usd: 3, tokens: null, turns: null }, session.spending)).toContain('$4.00 were spent')
})
