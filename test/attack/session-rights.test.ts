import { describe, expect, it } from 'vitest'
import { createSession } from '../../src/core/session/create.ts'
import { clampToLimits } from '../../src/core/authorization/remaining-limits.ts'
import {
  isOwnOrDescendant,
  reasonNotToStart,
  type StartRequest,
  specsById,
} from '../../src/core/authorization/may-start-session.ts'
import type { Session, Spec } from '../../src/core/session/session-state.ts'
import { assertValidEnvironment } from '../../src/daemon/session-spec.ts'
import { makeSpec, type SpecOverrides } from '../../testkit/in-memory/simulation.ts'

const PLAIN: StartRequest = { agent: 'claude', argv: [], autonomy: 'ask', supervision: { maxTime: null } }
const caller = (spec: SpecOverrides): Spec => makeSpec({ agent: 'talker', name: 'talker-caller', ...spec })
const session = (spec: SpecOverrides): Session =>
  createSession(makeSpec({ agent: 'talker', ...spec }), { hasPrompt: true }).session

describe('a session with less than full autonomy', () => {
  it.each<[string, Partial<StartRequest>]>([
    ['a command', { agent: 'command', argv: ['sh', '-c', 'touch /tmp/pwned'] }],
    ['more autonomy', { autonomy: 'full' }],
    ['a little more autonomy', { autonomy: 'edits' }],
    ['no word about autonomy, which means full', { autonomy: undefined as never }],
    ['arguments for the program', { argv: ['--dangerously-skip-permissions'] }],
    ['a command at the end', { supervision: { maxTime: null, onExit: ['/bin/sh'] } }],
    ['a check', { supervision: { maxTime: null, verify: { git: false, check: 'touch /tmp/pwned' } } }],
    ['a push', { supervision: { maxTime: null, saving: { push: 'https://example.com/x' } } }],
  ])('may start no other session with %s', (_, wanted) => {
    expect(reasonNotToStart({ ...PLAIN, ...wanted }, caller({ autonomy: 'ask' }))).not.toBeNull()
    const isMore = wanted.autonomy !== 'edits'
    if (isMore) expect(reasonNotToStart({ ...PLAIN, ...wanted }, caller({ autonomy: 'edits' }))).not.toBeNull()
    expect(reasonNotToStart({ ...PLAIN, ...wanted }, caller({ autonomy: 'full' }))).toBeNull()
  })

  it('may start other sessions with the same autonomy', () => {
    expect(reasonNotToStart(PLAIN, caller({ autonomy: 'ask' }))).toBeNull()
    expect(reasonNotToStart({ ...PLAIN, autonomy: 'edits' }, caller({ autonomy: 'edits' }))).toBeNull()
  })
})

it('a session gives the sessions it starts no more time, memory or money than it has itself', () => {
  const own = { maxTime: 60_000, memory: 1_000, limits: { usd: 1, tokens: null, turns: 5 } }
  const more = { ...PLAIN, supervision: { maxTime: null, limits: { usd: 50, tokens: 7 } } }
  expect(clampToLimits(more, own)).toEqual({
    ...more,
    supervision: {
      maxTime: 60_000,
      memory: 1_000,
      limits: { usd: 1, tokens: 7, turns: 2 }, // It names no turns, and gets half of those that are left.
    },
  })
  const less = { ...PLAIN, supervision: { maxTime: 10, memory: 10, limits: { usd: 0.5, turns: 1 } } }
  expect(clampToLimits(less, own)).toEqual(less)
})

it('isOwnOrDescendant accepts a session itself and every session that it or its descendants started', () => {
  const all = [
    session({ id: 'top', name: 'a' }),
    session({ id: 'child', name: 'b', startedBy: 'top' }),
    session({ id: 'worker', name: 'c', parent: { id: 'child', key: 'k' } }),
    session({ id: 'other', name: 'd' }),
    session({ id: 'ring', name: 'e', startedBy: 'ring' }),
  ]
  const [top, , , other] = all as [Session, Session, Session, Session]
  expect(all.filter(target => isOwnOrDescendant(target, top, specsById(all))).map(({ spec }) => spec.id)).toEqual([
    'top',
    'child',
    'worker',
  ])
  expect(all.filter(target => isOwnOrDescendant(target, other, specsById(all))).map(({ spec }) => spec.id)).toEqual([
    'other',
  ])
})

it.each([{ '': 'x' }, { A: 'x\0y' }, { 'A\0B': 'x' }, { 'A=B': 'x' }])(
  'the supervisor refuses the environment %j',
  env => {
    expect(() => assertValidEnvironment(env)).toThrow('no program can receive')
  },
)
