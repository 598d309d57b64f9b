import { describe, expect, it } from 'vitest'
import { create } from '../../src/core/create.ts'
import { withinLimits } from '../../src/core/allowance.ts'
import { isOwn, objectionTo, type Wanted } from '../../src/core/rights.ts'
import type { Session, Spec } from '../../src/core/session.ts'
import { assertEnvironment } from '../../src/daemon/accept.ts'
import { specOf } from '../../src/testkit/memory/stage.ts'

const PLAIN: Wanted = { agent: 'claude', argv: [], autonomy: 'ask', maxTime: null }
const caller = (spec: Partial<Spec>): Spec => specOf({ agent: 'talker', name: 'talker-caller', ...spec })
const session = (spec: Partial<Spec>): Session =>
  create(specOf({ agent: 'talker', ...spec }), { hasPrompt: true }).session

describe('a session that may do less than its user', () => {
  it.each<[string, Partial<Wanted>]>([
    ['a command', { agent: 'command', argv: ['sh', '-c', 'touch /tmp/pwned'] }],
    ['more autonomy', { autonomy: 'full' }],
    ['a little more autonomy', { autonomy: 'edits' }],
    ['no word about autonomy, which means full', { autonomy: undefined as never }],
    ['arguments for the program', { argv: ['--dangerously-skip-permissions'] }],
    ['a command at the end', { onExit: ['/bin/sh'] }],
    ['a check', { verify: { check: 'touch /tmp/pwned' } }],
    ['a push', { saving: { push: 'https://example.com/x' } }],
  ])('starts no other with %s', (_, wanted) => {
    expect(objectionTo({ ...PLAIN, ...wanted }, caller({ autonomy: 'ask' }))).not.toBeNull()
    const isMore = wanted.autonomy !== 'edits'
    if (isMore) expect(objectionTo({ ...PLAIN, ...wanted }, caller({ autonomy: 'edits' }))).not.toBeNull()
    expect(objectionTo({ ...PLAIN, ...wanted }, caller({ autonomy: 'full' }))).toBeNull()
  })

  it('starts others with as little', () => {
    expect(objectionTo(PLAIN, caller({ autonomy: 'ask' }))).toBeNull()
    expect(objectionTo({ ...PLAIN, autonomy: 'edits' }, caller({ autonomy: 'edits' }))).toBeNull()
  })
})

it('nobody gets more time, memory or money from a session than it has itself', () => {
  const own = caller({ maxTime: 60_000, memory: 1_000, limits: { usd: 1, tokens: null, turns: 5 } })
  const more = { ...PLAIN, maxTime: null, limits: { usd: 50, tokens: 7 } }
  expect(withinLimits(more, own)).toEqual({
    ...more,
    maxTime: 60_000,
    memory: 1_000,
    limits: { usd: 1, tokens: 7, turns: 5 },
  })
  const less = { ...PLAIN, maxTime: 10, memory: 10, limits: { usd: 0.5, turns: 1 } }
  expect(withinLimits(less, own)).toEqual(less)
})

it('a session’s own are those that it or one of its own has started', () => {
  const all = [
    session({ id: 'top', name: 'a' }),
    session({ id: 'child', name: 'b', startedBy: 'top' }),
    session({ id: 'worker', name: 'c', parent: { id: 'child', key: 'k' } }),
    session({ id: 'other', name: 'd' }),
    session({ id: 'ring', name: 'e', startedBy: 'ring' }),
  ]
  const [top, , , other] = all as [Session, Session, Session, Session]
  expect(all.filter(target => isOwn(target, top, all)).map(({ spec }) => spec.id)).toEqual(['top', 'child', 'worker'])
  expect(all.filter(target => isOwn(target, other, all)).map(({ spec }) => spec.id)).toEqual(['other'])
})

it.each([{ '': 'x' }, { A: 'x\0y' }, { 'A\0B': 'x' }, { 'A=B': 'x' }])('the environment %j is refused', env => {
  expect(() => assertEnvironment(env)).toThrow('no program can receive')
})
