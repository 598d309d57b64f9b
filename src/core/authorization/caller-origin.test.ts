import { describe, expect, it } from 'vitest'
import { testSessionId } from '../../../testkit/core/ids.ts'
import { type Ancestor, determineCallerOrigin, type LiveSession } from './caller-origin.ts'

const BEGAN = 1_000_000
const SUPERVISOR = 40

/** Shim 51 and tmux 50 are above the agent, and pid 1 is above all. */
const SPY: LiveSession = {
  id: testSessionId('spy'),
  isConfined: true,
  createdAt: BEGAN,
  process: { pid: 52, birth: 'b52' },
  above: [51, 50],
  group: '/user/a',
}
const BOSS: LiveSession = {
  ...SPY,
  id: testSessionId('boss'),
  isConfined: false,
  process: { pid: 62, birth: 'b62' },
  above: [61, 50],
}

function ancestor(pid: number, parent: number, more: Partial<Ancestor> = {}): Ancestor {
  const known = { birth: `b${pid}`, bornAt: BEGAN + pid * 1_000, session: pid, marker: null, groupMarker: null }
  return { pid, parent, ...known, group: { path: '/user/a', isOpen: true }, isReaper: false, ...more }
}
const before = { bornAt: BEGAN - 5_000 }
const [SHIM, TMUX] = [ancestor(51, 50, before), ancestor(50, 1, before)]
const TERMINAL = ancestor(20, 1, before)

const BEE: LiveSession = { ...SPY, id: testSessionId('bee'), process: { pid: 82, birth: 'b82' }, above: [81, 50] }

const verdict = (chain: readonly Ancestor[], suspects = [SPY, BOSS]): string => {
  const origin = determineCallerOrigin(chain, suspects, SUPERVISOR)
  return origin.kind === 'session' ? origin.id : origin.kind
}

describe('determineCallerOrigin recognises a session that may do less than its user', () => {
  it.each<[string, Ancestor[]]>([
    ['as a descendant', [ancestor(70, 52), ancestor(52, 51), SHIM, TMUX]],
    ['by its process session, without its parent', [ancestor(70, 1, { session: 52 })]],
    ['by its marker, without its parent', [ancestor(70, 1, { marker: 'spy.1' })]],
    ['by the marker of a parent', [ancestor(71, 70), ancestor(70, 1, { marker: 'spy.2' })]],
    ['by its control group', [ancestor(70, 1, { groupMarker: 'spy.1' })]],
    ['despite the marker of another session', [ancestor(70, 52, { marker: 'boss.1' }), ancestor(52, 51), SHIM, TMUX]],
  ])('%s', (_, chain) => {
    expect(verdict(chain)).toBe('spy')
  })
})

describe('a process without proof of an outside origin is unclear', () => {
  it.each<[string, Ancestor[]]>([
    ['an orphan without marker, session and parent', [ancestor(70, 1)]],
    ['an orphan with the marker of another session', [ancestor(70, 1, { marker: 'boss.1' })]],
    ['an orphan in the control group of another session', [ancestor(70, 1, { groupMarker: 'boss.1' })]],
    ['a child of an orphan', [ancestor(71, 70), ancestor(70, 1)]],
    ['an orphan that a service manager adopted', [ancestor(70, 9), ancestor(9, 1, { ...before, isReaper: true })]],
    ['an orphan that a process above the session adopted', [ancestor(70, 50), TMUX]],
    ['a process whose parent has just ended', [ancestor(70, 69)]],
    ['a process that got the pid of a session', [ancestor(70, 62), ancestor(62, 1, { birth: 'later' })]],
    ['nobody', []],
  ])('%s', (_, chain) => {
    expect(verdict(chain)).toBe('unclear')
  })
})

describe('two sessions that may do less than their user', () => {
  const both = (chain: readonly Ancestor[], suspects = [BEE, SPY, BOSS]): unknown => {
    const origin = determineCallerOrigin(chain, suspects, SUPERVISOR)
    return origin.kind === 'unclear' ? origin.suspects : origin
  }

  it.each<[string, Partial<Ancestor>]>([
    ['the marker', { marker: 'bee.1' }],
    ['the control group', { groupMarker: 'bee.1' }],
  ])('neither session passes as the other by %s of that session', (_, more) => {
    const spy = { kind: 'session', id: 'spy' }
    expect(both([ancestor(90, 52, more), ancestor(52, 51), SHIM, TMUX])).toEqual(spy)
    expect(both([ancestor(90, 1, { session: 52, ...more })])).toEqual(spy)
    expect(both([ancestor(90, 1, more)])).toEqual(['bee', 'spy'])
  })

  it('a session passes as itself if it is older than the other', () => {
    const later = { ...BEE, createdAt: BEGAN + 500_000 }
    expect(both([ancestor(90, 1, { marker: 'spy.1' })], [later, SPY])).toEqual({ kind: 'session', id: 'spy' })
  })
})

describe('determineCallerOrigin recognises other callers', () => {
  it.each<[string, Ancestor[]]>([
    ['a command in a terminal that is older than the session', [ancestor(70, 69), ancestor(69, 20), TERMINAL]],
    ['a process that the supervisor started', [ancestor(70, SUPERVISOR), ancestor(SUPERVISOR, 1)]],
    ['a process that entered the container from outside', [ancestor(70, 69), ancestor(69, 0)]],
    ['a process in a closed control group', [ancestor(70, 1, { group: { path: '/user/session-7', isOpen: false } })]],
  ])('%s', (_, chain) => {
    expect(verdict(chain)).toBe('outside')
  })

  it('a session with full autonomy by its process', () => {
    expect(verdict([ancestor(63, 62), ancestor(62, 61), TMUX])).toBe('boss')
    expect(verdict([ancestor(63, 1, { session: 62 })])).toBe('unclear')
  })

  it('every process as outside, if no session may do less than its user', () => {
    expect(verdict([ancestor(70, 1)], [BOSS])).toBe('outside')
  })
})
