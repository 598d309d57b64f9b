import { expect, test } from 'vitest'
import { makeSpec } from '../../../../testkit/in-memory/simulation.ts'
import { DEFAULT_CHECKPOINT_OPTIONS } from '../../checkpoint/checkpoint.ts'
import { createSession } from '../create.ts'
import { decide } from '../decision-table.ts'
import { DEFAULT_TIMINGS } from '../supervisor-timings.ts'
import type { Session } from '../session-state.ts'
import type { Signal } from '../signals.ts'

const { session: fresh } = createSession(
  makeSpec({ agent: 'talker', supervision: { saving: { ...DEFAULT_CHECKPOINT_OPTIONS, push: 'origin' } } }),
  {
    hasPrompt: true,
  },
)

function after(session: Session, ...signals: readonly Signal[]): { session: Session; eventTypes: string[] } {
  const eventTypes: string[] = []
  const last = signals.reduce((before, signal) => {
    const { session: next, events } = decide(before, signal, DEFAULT_TIMINGS)
    eventTypes.push(...events.map(event => event.type))
    return next
  }, session)
  return { session: last, eventTypes }
}

const failed = { at: 1, type: 'checkpoint.failed', reason: 'no repository', isFinal: true } as const
const unpushed = { at: 1, type: 'checkpoint.unpushed', reason: 'no route' } as const
const pushed = { at: 2, type: 'checkpoint.pushed', number: 3 } as const

test('the session reports the same problem once', () => {
  expect(after(fresh, failed, failed).eventTypes).toEqual(['checkpoint.failed'])
  expect(after(fresh, unpushed, unpushed, pushed, pushed, unpushed).eventTypes).toEqual([
    'checkpoint.unpushed',
    'checkpoint.pushed',
    'checkpoint.unpushed',
  ])
  const noted = { at: 1, type: 'trouble.noted', note: 'bd does not answer' } as const
  expect(after(fresh, noted, noted).eventTypes).toEqual(['session.noted'])
})

test('the session remembers an obstacle on a remote after later pushes, and no event shows a password', () => {
  const note = 'refs/oneshot/x is in the way'
  const { session, eventTypes } = after(fresh, { ...pushed, note }, { ...pushed, number: 4 })
  expect([session.saved.pushNote, eventTypes]).toEqual([note, ['checkpoint.pushed', 'session.noted']])
  const spec = makeSpec({
    agent: 'talker',
    supervision: { saving: { mode: 'ref', interval: 1, push: 'https://me:word@host/x' } },
  })
  const { session: secret } = createSession(spec, { hasPrompt: true })
  for (const signal of [pushed, unpushed]) {
    expect(decide(secret, signal, DEFAULT_TIMINGS).events).toMatchObject([{ remote: 'https://host/x' }])
  }
})

test('a session that pushes nothing reports nothing about pushes', () => {
  const quiet = createSession(makeSpec({ agent: 'talker' }), { hasPrompt: true }).session
  expect(after(quiet, unpushed, pushed)).toEqual({ session: quiet, eventTypes: [] })
})

test('a checkpoint clears the problem before it', () => {
  const checkpoint = { number: 1, commit: 'c', at: 5, trigger: 'edit', attempt: 1, head: null, leftOut: [] } as const
  const change = { files: 1, added: 1, removed: 0 }
  const { session } = after(fresh, failed, { at: 6, type: 'checkpoint.saved', checkpoint: { ...checkpoint, change } })
  expect(session.saved).toMatchObject({ last: { number: 1, at: 5, trigger: 'edit' }, trouble: null })
})

test('a save without a new checkpoint still tells the session which files it left out', () => {
  const checkpoint = { number: 1, commit: 'c', at: 5, trigger: 'edit', attempt: 1, head: null, leftOut: [] } as const
  const saved = {
    at: 6,
    type: 'checkpoint.saved',
    checkpoint: { ...checkpoint, change: { files: 1, added: 1, removed: 0 } },
  } as const
  const leftOut = ['huge.bin has 60 MB, more than 50 MB']
  const { session, eventTypes } = after(fresh, saved, { at: 7, type: 'checkpoint.unneeded', leftOut })
  expect([session.saved.last, eventTypes]).toMatchObject([{ number: 1, leftOut }, ['checkpoint.saved']])
})
