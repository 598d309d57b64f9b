import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testSessionId } from '../../testkit/core/ids.ts'
import type { RunRequest } from '../api/contract/run-request.ts'
import { createSession } from '../core/session/create.ts'
import type { SessionId } from '../core/session/session-id-and-name.ts'
import type { Phase, Session } from '../core/session/session-state.ts'
import { NO_LIMITS } from '../core/session/usage.ts'
import type { Store } from '../ports/store.ts'
import { makeSpec, type SpecOverrides } from '../../testkit/in-memory/simulation.ts'
import { sessionFolder } from '../state/session-folder.ts'
import { locateHome } from '../state/home.ts'
import { USER_CALLER } from './caller.ts'
import { assertAllowed, assertMayWake, isPublic, limitToRights } from './caller-authorization.ts'
import { ROUTES } from './routes/routes.ts'

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'os-rights-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

const ENDED: Phase = { name: 'ended', at: 5, outcome: 'done', reason: 'done', trouble: null }

function session(spec: SpecOverrides, more: Partial<Session> = {}): Session {
  const { agent = 'claude', ...rest } = spec
  const full = { ...makeSpec({ agent: 'talker', name: `claude-${spec.id}`, ...rest }), agent }
  return { ...createSession(full, { hasPrompt: true }).session, ...more }
}

const spy = session({ id: 'spy', autonomy: 'ask', cwd: '/work', startedBy: 'boss' })
const boss = session({ id: 'boss', autonomy: 'full', cwd: '/work' })
const child = session({ id: 'child', autonomy: 'ask', cwd: '/work', startedBy: 'spy' })
const other = session({ id: 'other', cwd: '/work' })
const loop = session({ id: 'loop', agent: 'ralph', autonomy: 'edits' })

function storeOf(...sessions: Session[]): Store {
  const byId = new Map(sessions.map(one => [one.spec.id, one]))
  return { family: () => sessions, live: () => sessions, load: (id: SessionId) => byId.get(id) } as unknown as Store
}
const store = storeOf(spy, boss, child, other, loop)

function may(route: string, id: SessionId | null, caller: Session | null, suspect: Session | null = null): boolean {
  const rights = ROUTES[route]
  if (rights === undefined) throw new Error(route)
  try {
    assertAllowed(route, rights, id, { session: caller, suspect }, store)
    return true
  } catch {
    return false
  }
}

const LOOKING = ['GET /v1/daemon', 'GET /v1/sessions/:id', 'GET /v1/sessions/:id/outlook']
/**
 * The routes that a session with less than full autonomy may use. A new route is closed to it until somebody adds it
 * here.
 */
const FOR_CONFINED = [
  ...LOOKING,
  'POST /v1/sessions',
  'POST /v1/sessions/:id/stop',
  'POST /v1/sessions/:id/messages',
  'POST /v1/sessions/:id/tasks',
  'POST /v1/sessions/:id/hold',
  'POST /v1/sessions/:id/checkpoint',
]

describe('the access rules of all routes', () => {
  const all = Object.keys(ROUTES)

  it('a session with less than full autonomy may use these routes, and no others', () => {
    expect(all.filter(route => may(route, testSessionId('child'), spy)).sort()).toEqual([...FOR_CONFINED].sort())
    expect(all.filter(route => may(route, testSessionId('spy'), spy)).sort()).toEqual([...FOR_CONFINED].sort())
  })

  it.each(all)('%s: only the user may change a session that the caller has not started', route => {
    if (!route.startsWith('POST /v1/sessions/:id/')) return
    for (const caller of [spy, boss, loop]) expect(may(route, testSessionId('other'), caller)).toBe(false)
    expect(may(route, testSessionId('boss'), spy)).toBe(false)
    expect(may(route, testSessionId('other'), null)).toBe(true)
  })

  it('no session stops the supervisor, and the user may use every route', () => {
    for (const caller of [spy, boss, loop]) expect(may('POST /v1/daemon/stop', null, caller)).toBe(false)
    for (const route of all)
      expect(() => assertAllowed(route, ROUTES[route]!, testSessionId('x'), USER_CALLER, store)).not.toThrow()
  })

  it.each(all)('%s: a refusal names the action in words', route => {
    const refusalOf = (caller: Session): string => {
      try {
        assertAllowed(route, ROUTES[route]!, testSessionId('other'), { session: caller, suspect: null }, store)
        return ''
      } catch (cause) {
        return String(cause)
      }
    }
    expect([spy, boss].map(refusalOf).join('\n')).not.toContain('/v1/')
  })

  it('a caller who may be a confined session may read, and may do to that session what the session may do to itself', () => {
    expect(all.filter(route => isPublic(ROUTES[route]!, route.split(' ')[0])).sort()).toEqual([...LOOKING].sort())
    const ending = ['POST /v1/sessions/:id/hold', 'POST /v1/sessions/:id/stop']
    const writing = all.filter(route => !LOOKING.includes(route))
    const own = FOR_CONFINED.filter(route => route.includes(':id/') && !LOOKING.includes(route))
    expect(writing.filter(route => may(route, testSessionId('spy'), null, spy)).sort()).toEqual([...own].sort())
    expect(writing.filter(route => may(route, testSessionId('child'), null, spy)).sort()).toEqual(ending)
    expect(writing.filter(route => may(route, testSessionId('other'), null, spy))).toEqual([])
    const several = { session: null, suspect: spy, isOneOfSeveral: true } as const
    const isOpen = (route: string): boolean => {
      try {
        assertAllowed(route, ROUTES[route]!, testSessionId('spy'), several, store)
        return true
      } catch {
        return false
      }
    }
    expect(writing.filter(isOpen).sort()).toEqual(ending)
  })
})

describe('a session started by a session with less than full autonomy', () => {
  const request: RunRequest = {
    agent: 'claude',
    argv: [],
    prompt: 'eA==',
    cwd: '/work',
    env: {},
    autonomy: 'ask',
    supervision: { maxTime: null },
  }
  const given = (): Parameters<typeof limitToRights>[2] => {
    const home = locateHome({ ONESHOT_HOME: folder })
    fs.mkdirSync(sessionFolder(home, testSessionId('spy')).root, { recursive: true })
    fs.writeFileSync(sessionFolder(home, testSessionId('spy')).env, '{"PATH":"/usr/bin"}')
    return { home, store, engine: { written: () => 0 } }
  }

  it('receives the environment, folder, checkpoint options and wait limits of its starter', () => {
    const wanted: RunRequest = {
      ...request,
      env: { PATH: '/work/evil', NODE_OPTIONS: '--require=/work/evil.js' },
      umask: 0,
      tty: '/dev/tty1',
      supervision: {
        maxTime: null,
        restart: { limit: 999_999 },
        patience: { silence: null },
        saving: { mode: 'branch', nested: true, pushUntracked: true },
      },
    }
    const got = limitToRights(wanted, spy, given())
    expect(got.env).toEqual({ PATH: '/usr/bin' })
    expect(got.supervision.saving).toEqual({ ...spy.spec.supervision.saving, push: null })
    expect([got.supervision.restart, got.supervision.patience]).toEqual([
      spy.spec.supervision.restart,
      spy.spec.supervision.patience,
    ])
    expect(got).not.toHaveProperty('tty')
    expect(got).not.toHaveProperty('umask', 0)
  })

  it.each<[string, Partial<RunRequest>]>([
    ['in another folder', { cwd: '/etc' }],
    ['in a folder below', { cwd: '/work/sub' }],
    ['with another agent', { agent: 'demo' }],
    ['in a conversation of others', { thread: '01a1de78' }],
    ['as a loop', { agent: 'ralph' }],
    ['in the name of a loop', { parent: { id: 'loop', key: 'k' } }],
    ['with more autonomy', { autonomy: 'edits' }],
    ['as a command', { agent: 'command', argv: ['sh'] }],
  ])('is refused %s', (_, wanted) => {
    expect(() => limitToRights({ ...request, ...wanted }, spy, given())).toThrow('the session claude-spy may not')
  })

  it('keeps the request unchanged when the user starts it', () => {
    expect(limitToRights({ ...request, cwd: '/etc' }, null, given())).toEqual({ ...request, cwd: '/etc' })
  })
})

describe('limits that a session passes on to the sessions it starts', () => {
  const request: RunRequest = { agent: 'command', argv: ['true'], cwd: '/', env: {}, supervision: { maxTime: null } }
  const limits = { usd: 5, tokens: 1_000, turns: 10 }
  const spent = (usd: number, turns = 1): Session['spending'] => ({
    ...boss.spending,
    before: { input: 100, cached: 0, output: 0, usd, turns },
  })
  const given = (...sessions: Session[]): Parameters<typeof limitToRights>[2] => ({
    home: locateHome({ ONESHOT_HOME: folder }),
    store: storeOf(...sessions),
    engine: { written: of => (of.some(({ spec }) => spec.id === 'top') ? 600 : 0) },
  })
  const now = Date.now()
  const limited = session(
    { id: 'top', supervision: { limits, maxTime: 3_600_000, memory: 5_000, maxOutput: 1_000 } },
    { spending: spent(2), clockSince: now - 1_800_000 },
  )

  it('a child receives what its parent and the parent’s other children have left', () => {
    const first = session({ id: 'first', startedBy: 'top' }, { spending: spent(1), phase: ENDED })
    const got = limitToRights(request, limited, given(limited, first))
    const { maxTime, ...rest } = got.supervision
    expect(rest).toMatchObject({ limits: { usd: 2, tokens: 800, turns: 8 }, memory: 5_000, maxOutput: 200 })
    expect(maxTime).toBeLessThanOrEqual(1_800_000)
    expect(maxTime).toBeGreaterThan(1_700_000)
  })

  const share = (id: string, usd: number, more: SpecOverrides = {}): Session =>
    session({ id, startedBy: 'top', supervision: { limits: { ...NO_LIMITS, usd } }, ...more })

  it('an agent that requests no budget receives half, so that its parent can continue beside it', () => {
    const agent = { ...request, agent: 'claude', argv: [], prompt: 'eA==' }
    const askFor = (wanted: { usd: number }): RunRequest['supervision']['limits'] =>
      limitToRights({ ...agent, supervision: { maxTime: null, limits: wanted } }, limited, given(limited)).supervision
        .limits
    expect(limitToRights(agent, limited, given(limited))).toMatchObject({
      supervision: { limits: { usd: 1.5, tokens: 450, turns: 4 } },
    })
    expect(askFor({ usd: 2.5 })?.usd).toBe(2.5)
    expect(askFor({ usd: 9 })?.usd).toBe(3)
  })

  it('a live child reserves its output limit, so that no child gets more than its parent has left', () => {
    const first = session({ id: 'first', startedBy: 'top', supervision: { maxOutput: 300 } })
    const below = session({ id: 'below', startedBy: 'first', supervision: { maxOutput: 200 } })
    const most = (maxOutput: number | null, ...others: Session[]): unknown =>
      limitToRights({ ...request, supervision: { maxTime: null, maxOutput } }, limited, given(limited, ...others))
        .supervision.maxOutput
    expect([most(1024 ** 3), most(null), most(300), most(399)]).toEqual([200, 200, 300, 399])
    expect([most(60, first), most(1024 ** 3, first, below), most(null, { ...first, phase: ENDED })]).toEqual([
      60, 50, 200,
    ])
    const rest = session({ id: 'rest', startedBy: 'top', supervision: { maxOutput: 100 } })
    expect(() => most(null, first, rest)).toThrow('nothing is left of its output')
    expect(
      limitToRights({ ...request, supervision: { maxTime: null, maxOutput: 250 } }, below, given(limited, first, below))
        .supervision.maxOutput,
    ).toBe(50)
  })

  it('a live child reserves its budget, so that several children do not overspend together', () => {
    const [first, second] = [share('first', 1), share('second', 1.5)]
    expect(limitToRights(request, limited, given(limited, first))).toMatchObject({
      supervision: { limits: { usd: 2 } },
    })
    expect(limitToRights(request, limited, given(limited, first, second))).toMatchObject({
      supervision: { limits: { usd: 0.5 } },
    })
    const all = share('all', 3)
    expect(() => limitToRights(request, limited, given(limited, all))).toThrow(
      'nothing is left of its budget beside the part reserved for claude-all',
    )
    const over = { ...all, phase: ENDED, spending: spent(0.5) }
    expect(limitToRights(request, limited, given(limited, over))).toMatchObject({
      supervision: { limits: { usd: 2.5 } },
    })
    const woken = { ...share('woken', 1), spending: { ...spent(1.5), waived: spent(1.5).before } }
    expect(limitToRights(request, limited, given(limited, woken))).toMatchObject({
      supervision: { limits: { usd: 0.5 } },
    })
  })

  it('a session with a budget does not pass on an amount that its ancestors have reserved for others', () => {
    const [first, second] = [share('first', 1), share('second', 1.8)]
    expect(limitToRights(request, second, given(limited, first, second))).toMatchObject({
      supervision: { limits: { usd: 0.2 } },
    })
    const command = share('sh', 3, { agent: 'command' })
    expect(limitToRights(request, limited, given(limited, command))).toMatchObject({
      supervision: { limits: { usd: 3 } },
    })
    expect(limitToRights(request, command, given(limited, command, first))).toMatchObject({
      supervision: { limits: { usd: 2 } },
    })
  })

  it('a loop counts the spending of its workers, and its parent does not count it again', () => {
    const own = { ...share('own', 2, { agent: 'ralph' }), spending: spent(1.5) }
    const worker = session({ id: 'w', startedBy: 'own', parent: { id: 'own', key: 'k' } }, { spending: spent(1.5) })
    expect(limitToRights(request, limited, given(limited, own, worker))).toMatchObject({
      supervision: { limits: { usd: 1 } },
    })
    const ended = { ...own, phase: ENDED }
    expect(limitToRights(request, limited, given(limited, ended, worker))).toMatchObject({
      supervision: { limits: { usd: 1.5 } },
    })
  })

  it.each<[string, Partial<Session>]>([
    ['budget', { spending: spent(5) }],
    ['turns', { spending: spent(0, 10) }],
    ['time', { clockSince: now - 4_000_000 }],
  ])('a session that has used up its %s starts no session', (what, more) => {
    const empty = { ...limited, ...more }
    expect(() => limitToRights(request, empty, given(empty))).toThrow(`nothing is left of its ${what}`)
  })

  it('a session does not reset limits by waking its own children', () => {
    const mine = session(
      { id: 'mine', startedBy: 'top', supervision: { maxTime: 3_600_000, limits } },
      { phase: ENDED },
    )
    const small = session(
      { id: 'small', startedBy: 'top', supervision: { maxTime: 1_000, limits: { usd: 1, tokens: 10, turns: 1 } } },
      { phase: ENDED },
    )
    const unlimited = session(
      { id: 'u', startedBy: 'top', supervision: { maxTime: null, limits: NO_LIMITS } },
      { phase: ENDED },
    )
    const all = given(limited, mine, small, unlimited)
    expect(() => assertMayWake(mine, limited, all)).toThrow('would start again from zero')
    expect(() => assertMayWake(unlimited, limited, all)).toThrow('would start again from zero')
    expect(() => assertMayWake({ ...limited, phase: ENDED }, limited, all)).toThrow('may not wake itself')
    assertMayWake(small, limited, all)
    assertMayWake(mine, null, all)
  })

  it('a session cannot start an unlimited number of sessions', () => {
    const many = Array.from({ length: 32 }, (_, n) => session({ id: `n${n}`, startedBy: n < 16 ? 'boss' : 'n0' }))
    for (const caller of [boss, many[0]!])
      expect(() => limitToRights(request, caller, given(boss, ...many))).toThrow(
        '32 sessions that claude-boss has started',
      )
    const done = many.map(one => ({ ...one, phase: ENDED }))
    expect(limitToRights(request, boss, given(boss, ...done))).toMatchObject(request)
    const line = Array.from({ length: 8 }, (_, n) => session({ id: `l${n}`, ...(n > 0 && { startedBy: `l${n - 1}` }) }))
    expect(() => limitToRights(request, line[7]!, given(...line))).toThrow('number 8 in a line of sessions')
  })
})
