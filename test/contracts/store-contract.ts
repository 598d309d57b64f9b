import { withAttempt } from '../../src/core/session/attempt.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSession } from '../../src/core/session/create.ts'
import type { SessionId } from '../../src/core/session/session-id-and-name.ts'
import { decide } from '../../src/core/session/decision-table.ts'
import { DEFAULT_TIMINGS } from '../../src/core/session/supervisor-timings.ts'
import type { Session } from '../../src/core/session/session-state.ts'
import type { Signal } from '../../src/core/session/signals.ts'
import type { HookCall } from '../../src/core/notify/notice.ts'
import type { Notice } from '../../src/core/notify/notice.ts'
import { makeDecision } from '../../src/core/session/decision.ts'
import { type Store, Superseded } from '../../src/ports/store.ts'
import { testSessionId, testThreadId } from '../../testkit/core/ids.ts'
import { makeSpec, type SpecOverrides } from '../../testkit/in-memory/simulation.ts'

/** A disk on which a test opens one store after the other. */
export interface StoreFixture {
  open(): Store
  close(): void
}

const AT = 1_000

/** Tests the promises of every store. */
export function testStore(kind: string, openBench: () => StoreFixture): void {
  describe(`a store ${kind}`, () => {
    let bench: StoreFixture
    let store: Store
    beforeEach(() => {
      bench = openBench()
      store = bench.open()
    })
    afterEach(() => bench.close())

    const accept = (id: string, overrides: SpecOverrides = {}): Session => {
      const first = createSession(
        makeSpec({ agent: 'talker', id, name: `talker-${id}`, createdAt: AT, ...overrides }),
        {
          hasPrompt: true,
        },
      )
      store.record(first)
      return first.session
    }
    const happen = (session: Session, ...signals: Signal[]): Session =>
      signals.reduce((before, signal) => {
        const after = decide(before, signal, DEFAULT_TIMINGS)
        store.record(after)
        return after.session
      }, session)
    const stop = (at: number): Signal => ({ at, type: 'user.stop' })
    const crash: Signal = { at: AT, type: 'process.died', attempt: 1, exit: { kind: 'code', code: 1 }, chance: 0 }
    const gone: Signal = { at: AT, type: 'tree.gone', attempt: 1 }

    test('is empty at first', () => {
      expect([
        store.all(),
        store.live(),
        store.pendingEffects(),
        store.events(testSessionId('a')),
        store.dueSessions(1e15),
      ]).toEqual([[], [], [], [], []])
      expect([store.load(testSessionId('a')), store.nextDue()]).toEqual([undefined, undefined])
    })

    test('returns a session as it was recorded, with its events and its effects in order', () => {
      const session = happen(accept('a'), stop(AT + 1))
      expect(store.load(testSessionId('a'))).toEqual(session)
      expect(store.events(testSessionId('a')).map(({ sessionId, event }) => [sessionId, event.type])).toEqual([
        ['a', 'session.created'],
        ['a', 'attempt.launched'],
        ['a', 'message.delivered'],
        ['a', 'session.stopping'],
      ])
      expect(store.pendingEffects(testSessionId('a')).map(item => [item.sessionId, item.effect])).toEqual([
        ['a', { type: 'launch', attempt: 1 }],
        ['a', { type: 'interrupt', attempt: 1 }],
      ])
    })

    test('keeps text of any kind', () => {
      const odd = `'"\\ \u0001 \u2028 🚀 ${'x'.repeat(100_000)}`
      const session = accept('a', { title: odd, cwd: odd, argv: [odd] })
      expect(store.load(testSessionId('a'))).toEqual(session)
    })

    test('settles one effect once, and no other effect', () => {
      happen(accept('a'), stop(AT))
      accept('b')
      const [launch] = store.pendingEffects(testSessionId('a'))
      store.settleEffect(launch?.key ?? '')
      store.settleEffect(launch?.key ?? '')
      expect(store.pendingEffects().map(item => `${item.sessionId} ${item.effect.type}`)).toEqual([
        'a interrupt',
        'b launch',
      ])
    })

    test('never uses a key twice', () => {
      accept('a')
      const [first] = store.pendingEffects(testSessionId('a'))
      store.settleEffect(first?.key ?? '')
      store.remove(testSessionId('a'))
      accept('b')
      expect(store.pendingEffects(testSessionId('b'))[0]?.key).not.toBe(first?.key)
    })

    test('lists live sessions with the oldest first, and all sessions with the newest first', () => {
      const older = accept('old', { createdAt: AT - 1 })
      accept('new', { createdAt: AT + 1 })
      accept('mid')
      happen(older, crash, gone, stop(AT + 5))
      expect(store.live().map(session => session.spec.id)).toEqual(['mid', 'new'])
      expect(store.all().map(session => session.spec.id)).toEqual(['new', 'mid', 'old'])
    })

    test('counts live and ended sessions, and finds names, conversations and children', () => {
      const parent = { id: 'a', key: 'task 1' }
      happen(
        accept('a'),
        { at: AT, type: 'agent.threaded', attempt: 1, thread: testThreadId('thread-a') },
        stop(AT + 1),
        gone,
      )
      const child = accept('b', { parent })
      expect(store.count()).toEqual({ live: 1, ended: 1 })
      expect([store.isNameUsed('talker-a'), store.isNameUsed('talker-b'), store.isNameUsed('talker')]).toEqual([
        true,
        true,
        false,
      ])
      expect([
        store.isThreadUsed(testThreadId('thread-a'), { except: testSessionId('b') }),
        store.isThreadUsed(testThreadId('thread-a'), { except: testSessionId('a') }),
        store.isThreadUsed(testThreadId('thread-b'), { except: testSessionId('b') }),
      ]).toEqual([true, false, false])
      expect([store.findChild(testSessionId('a'), 'task 1'), store.findChild(testSessionId('a'), 'task 2')]).toEqual([
        child,
        undefined,
      ])
    })

    test('finds the family of a session: its owners, and all sessions that these own', () => {
      accept('top', { createdAt: AT + 1 })
      accept('child', { startedBy: 'top', createdAt: AT + 2 })
      accept('grandchild', { parent: { id: 'child', key: 'k' }, createdAt: AT + 3 })
      accept('sister', { startedBy: 'top', createdAt: AT + 4 })
      accept('stranger')
      accept('ring', { startedBy: 'ring' })
      const family = (id: SessionId): string[] => store.family(id).map(({ spec }) => spec.id)
      for (const id of ['top', 'child', 'grandchild', 'sister'])
        expect(family(testSessionId(id))).toEqual(['sister', 'grandchild', 'child', 'top'])
      expect([family(testSessionId('stranger')), family(testSessionId('ring')), family(testSessionId('none'))]).toEqual(
        [['stranger'], ['ring'], []],
      )
    })

    test('yields the sessions of a folder, that which began last first', () => {
      accept('old', { cwd: '/here', createdAt: AT - 1 })
      accept('new', { cwd: '/here', createdAt: AT + 1 })
      accept('other', { cwd: '/there' })
      expect([...store.inFolder('/here')].map(({ spec }) => spec.id)).toEqual(['new', 'old'])
    })

    test('an ended session is unsettled until it is marked, and again after its next record', () => {
      const unsettled = (): string[] => [...store.unsettled()].map(({ spec }) => spec.id)
      const ended = happen(accept('a'), stop(AT), gone)
      accept('live', { createdAt: AT + 1 })
      expect(ended.phase.name).toBe('ended')
      expect(unsettled()).toEqual(['a', 'live'])
      store.markSettled([testSessionId('a'), testSessionId('live')])
      expect(unsettled(), 'a live session is never settled').toEqual(['live'])
      expect(bench.open().count()).toEqual({ live: 1, ended: 1 })
      store = bench.open()
      expect(unsettled()).toEqual(['live'])
      store.record(makeDecision(ended, []))
      expect(unsettled()).toEqual(['a', 'live'])
    })

    test('returns settled sessions that ended before a time, the oldest end first, without workers of a parent', () => {
      const endAt = (id: string, at: number, overrides: SpecOverrides = {}): Session =>
        happen(accept(id, overrides), stop(AT), { ...gone, at: AT + at })
      endAt('a', 3)
      endAt('b', 1)
      endAt('c', 2)
      endAt('busy', 0)
      endAt('worker', 0, { parent: { id: 'live', key: 'k' } })
      endAt('orphan', 0, { parent: { id: 'gone', key: 'k' } })
      accept('live')
      store.markSettled([
        testSessionId('a'),
        testSessionId('b'),
        testSessionId('c'),
        testSessionId('worker'),
        testSessionId('orphan'),
        testSessionId('live'),
      ])
      expect(store.removable(AT + 3, 9)).toEqual(['orphan', 'b', 'c'])
      expect(store.removable(AT + 99, 2)).toEqual(['orphan', 'b'])
    })

    test('returns the next due time and the due sessions', () => {
      accept('none')
      accept('late', { supervision: { maxTime: 9_000 } })
      accept('soon', { supervision: { maxTime: 5_000 } })
      happen(accept('resting'), crash, gone)
      expect(store.nextDue()).toBe(AT + 100)
      expect(store.dueSessions(AT + 99)).toEqual([])
      expect(store.dueSessions(AT + 5_000)).toEqual(['resting', 'soon'])
      expect(store.dueSessions(AT + 9_000)).toEqual(['resting', 'soon', 'late'])
    })

    test('removes a session with its events and effects', () => {
      accept('a')
      accept('b')
      store.remove(testSessionId('a'))
      expect([
        store.load(testSessionId('a')),
        store.events(testSessionId('a')),
        store.pendingEffects(testSessionId('a')),
      ]).toEqual([undefined, [], []])
      expect([store.all().length, store.pendingEffects().length]).toEqual([1, 1])
      store.remove(testSessionId('a'))
    })

    test('has the same content after it is opened again, under the next epoch', () => {
      const session = accept('a')
      const { epoch } = store
      const before = [store.all(), store.events(testSessionId('a')), store.pendingEffects()]
      store.close()
      store = bench.open()
      expect(store.epoch).toBe(epoch + 1)
      expect([store.all(), store.events(testSessionId('a')), store.pendingEffects()]).toEqual(before)
      expect(store.load(testSessionId('a'))).toEqual(session)
    })

    const aNotice = (sessionId: SessionId, at: number, kind: Notice['kind'] = 'done'): Notice => ({
      id: `${sessionId}-${at}-${kind}`,
      kind,
      at,
      session: { id: sessionId, name: `talker-${sessionId}`, agent: 'talker', title: '', cwd: '/', tty: null },
      outcome: null,
      reason: 'it is',
      exitCode: null,
      text: 'it is so: it is',
      command: null,
    })
    const tell = (session: Session, ...notices: Notice[]): void =>
      store.record(makeDecision(session, []), { notices, hooks: [] })
    const anEnd = (id: string) => ({ at: AT, type: 'hook.ended', hook: 'on-exit', id, ok: true, reason: '' }) as const

    test('keeps notices in order, each once, until they are routed', () => {
      const session = accept('a')
      const [first, second] = [aNotice(testSessionId('a'), 1), aNotice(testSessionId('a'), 2)]
      tell(session, first, second)
      tell(session, second)
      expect(store.notifications.unrouted()).toEqual([first, second])
      store.notifications.route(first.id, ['phone', 'mail'], AT)
      store.notifications.route(first.id, ['phone', 'desk'], AT)
      store.notifications.route(second.id, [], AT)
      expect(store.notifications.unrouted()).toEqual([])
      const pending = store.notifications
        .pendingDeliveries()
        .map(({ channel, notice, due, tries }) => [channel, notice, due, tries])
      expect(pending).toEqual([
        ['phone', first, AT, 0],
        ['mail', first, AT, 0],
      ])
      expect(store.notifications.noticesSince(testSessionId('a'), 2)).toEqual([second])
      expect(store.notifications.noticesSince(testSessionId('b'), 0)).toEqual([])
    })

    test('settles and postpones deliveries, a whole channel at a time', () => {
      const session = accept('a')
      const notices = [1, 2, 3].map(at => aNotice(testSessionId('a'), at))
      tell(session, ...notices)
      for (const { id } of notices) store.notifications.route(id, ['phone', 'mail'], AT)
      const keysOf = (channel: string): string[] =>
        store.notifications
          .pendingDeliveries()
          .flatMap(delivery => (delivery.channel === channel ? [delivery.key] : []))
      const [first = '', second = ''] = keysOf('phone')
      store.notifications.settleDeliveries([first], { at: AT, state: 'delivered', remark: 'heard' })
      store.notifications.postpone('phone', AT + 500, { keys: [second], at: AT, remark: 'refused' })
      store.notifications.postpone('phone', AT + 100, { keys: [first], at: AT, remark: 'too late' })
      const told = () =>
        store.notifications.pendingDeliveries().map(({ channel, due, tries }) => `${channel} ${due - AT} ${tries}`)
      expect(told()).toEqual(['mail 0 0', 'phone 500 1', 'mail 0 0', 'phone 500 0', 'mail 0 0'])
      store.notifications.retryNow('phone', AT + 10)
      store.notifications.settleDeliveries(keysOf('mail'), { at: AT, state: 'given-up', remark: 'gone' })
      expect(told()).toEqual(['phone 10 1', 'phone 10 0'])
    })

    test('keeps the notices of a removed session', () => {
      const session = accept('a')
      tell(session, aNotice(testSessionId('a'), 1), aNotice(testSessionId('a'), 2))
      store.notifications.route(aNotice(testSessionId('a'), 1).id, ['phone'], AT)
      store.remove(testSessionId('a'))
      expect([store.notifications.pendingDeliveries().length, store.notifications.unrouted().length]).toEqual([1, 1])
    })

    test('deletes old delivered notices, and none that waits', () => {
      const session = accept('a')
      tell(session, ...[1, 2, 3, 9].map(at => aNotice(testSessionId('a'), at)))
      for (const at of [1, 2]) store.notifications.route(aNotice(testSessionId('a'), at).id, ['phone'], AT)
      store.notifications.route(aNotice(testSessionId('a'), 9).id, [], AT)
      const [first] = store.notifications.pendingDeliveries()
      store.notifications.settleDeliveries([first?.key ?? ''], { at: AT, state: 'delivered', remark: '' })
      store.notifications.deleteBefore(5)
      expect(store.notifications.noticesSince(testSessionId('a'), 0).map(({ at }) => at)).toEqual([2, 3, 9])
    })

    test('keeps hooks until they have run, and records their result with the session', () => {
      const session = accept('a')
      const call = (id: string): HookCall => ({ id, at: AT, argv: ['x'], outcome: 'done', reason: 'so', session })
      store.record(makeDecision(session, []), { notices: [], hooks: [call('h1'), call('h2')] })
      store.record(makeDecision(session, []), { notices: [], hooks: [call('h1')] })
      expect(store.notifications.pendingHooks()).toEqual([call('h1'), call('h2')])
      store.notifications.settleHook(call('h1'), anEnd('h1'))
      store.notifications.settleHook(call('h1'), anEnd('h1'))
      expect(store.events(testSessionId('a')).filter(({ event }) => event.type === 'hook.ended')).toHaveLength(1)
      store.remove(testSessionId('a'))
      expect(store.notifications.pendingHooks()).toEqual([call('h2')])
      store.notifications.settleHook(call('h2'), anEnd('h2'))
      expect([store.notifications.pendingHooks(), store.events(testSessionId('a'))]).toEqual([[], []])
    })

    test('that another one has superseded writes nothing more', () => {
      const session = accept('a')
      const [launch] = store.pendingEffects(testSessionId('a'))
      tell(session, aNotice(testSessionId('a'), 1))
      const other = bench.open()
      const all = () => [
        other.all(),
        other.events(testSessionId('a')),
        other.pendingEffects(),
        other.notifications.unrouted(),
      ]
      const before = all()
      expect(() => store.assertEpoch()).toThrow(Superseded)
      expect(() => store.record(makeDecision(withAttempt(session, { number: 9 }), []))).toThrow(Superseded)
      expect(() => store.settleEffect(launch?.key ?? '')).toThrow(Superseded)
      expect(() => store.remove(testSessionId('a'))).toThrow(Superseded)
      expect(() => store.notifications.route(aNotice(testSessionId('a'), 1).id, [], AT)).toThrow(Superseded)
      expect(() => store.notifications.settleDeliveries([], { at: AT, state: 'delivered', remark: '' })).toThrow(
        Superseded,
      )
      expect(() => store.notifications.postpone('phone', AT)).toThrow(Superseded)
      expect(() => store.notifications.retryNow('phone', AT)).toThrow(Superseded)
      expect(() => store.notifications.deleteBefore(AT)).toThrow(Superseded)
      expect(all()).toEqual(before)
      other.assertEpoch()
      other.close()
    })
  })
}
