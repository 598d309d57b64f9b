import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { specs } from '../testkit/core/arbitrary.ts'
import { create } from './create.ts'

test('a session begins with its first attempt, which resumes nothing', () => {
  fc.assert(
    fc.property(specs, spec => {
      const { session, events, effects } = create(spec)
      expect(session).toMatchObject({ attempt: 1, phase: { name: 'starting', since: spec.createdAt }, wanted: 'run' })
      expect(events.map(event => event.type)).toEqual(['session.created', 'attempt.launched'])
      expect(effects).toEqual([{ type: 'launch', attempt: 1, resume: null }])
    }),
  )
})
