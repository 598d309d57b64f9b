import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { specs } from '../testkit/core/arbitrary.ts'
import { create } from './create.ts'

test('a session begins with its first attempt, which is given the prompt', () => {
  fc.assert(
    fc.property(specs, spec => {
      const { session, events, effects } = create(spec, { hasPrompt: true })
      expect(session).toMatchObject({ attempt: 1, phase: { name: 'starting', since: spec.createdAt }, wanted: 'run' })
      expect(events.map(event => event.type)).toEqual(['session.created', 'attempt.launched', 'message.delivered'])
      expect(effects).toEqual([{ type: 'launch', attempt: 1 }])
    }),
  )
})

test('a command has nothing to read', () => {
  fc.assert(
    fc.property(specs, spec => {
      const { session, events } = create(spec, { hasPrompt: false })
      expect(session).toMatchObject({ messages: [], errand: null })
      expect(events.map(event => event.type)).toEqual(['session.created', 'attempt.launched'])
    }),
  )
})
