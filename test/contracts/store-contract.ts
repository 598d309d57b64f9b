import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { create } from '../../src/core/create.ts'
import { decide } from '../../src/core/decide.ts'
import { DEFAULT_RULES } from '../../src/core/rules.ts'
import type { Session, Spec } from '../../src/core/session.ts'
import type { Signal } from '../../src/core/signals.ts'
import { step } from '../../src/core/step.ts'
import { type Store, Superseded } from '../../src/ports/store.ts'
import { specOf } from '../../src/testkit/memory/stage.ts'

/** A disk on which one store after the other is opened. */
export interface StoreBench {
  open(): Store
  close(): void
}

const AT = 1_000

/** What every store promises. */
export function promisesOfStore(kind: string, openBench: () => StoreBench): void {
  describe(`a store ${kind}`, () => {
    let bench: StoreBench
    let store: Store
    beforeEach(() => {
      bench = openBench()
      store = bench.open()
    })
    afterEach(() => bench.close())

    const accept = (id: string, wishes: Partial<Spec> = {}): Session => {
      const first = create(specOf({ agent: 'talker', id, name: `talker-${id}`, createdAt: AT, ...wishes }), {
        hasPrompt: true,
      })
      store.record(first)
      return first.session
    }
    const happen = (session: Session, ...signals: Signal[]): Session =>
      signals.reduce((before, signal) => {
        const after = decide(before, signal, DEFAULT_RULES)
        store.record(after)
        return after.session
      }, session)
    const stop = (at: number): Signal => ({ at, type: 'user.stop' })
    const crash: Signal = { at: AT, type: 'process.died', attempt: 1, exit: { kind: 'code', code: 1 }, chance: 0 }
    const gone: Signal = { at: AT, type: 'tree.gone', attempt: 1 }

    test('is empty at first', () => {
      expect([store.all(), store.live(), store.pending(), store.events('a'), store.due(1e15)]).toEqual([
        [],
        [],
        [],
        [],
        [],
      ])
      expect([store.load('a'), store.nextDue()]).toEqual([undefined, undefined])
    })

    test('gives back a session as it was recorded, with its events and its effects in order', () => {
      const session = happen(accept('a'), stop(AT + 1))
      expect(store.load('a')).toEqual(session)
      expect(store.events('a').map(({ sessionId, event }) => [sessionId, event.type])).toEqual([
        ['a', 'session.created'],
        ['a', 'attempt.launched'],
        ['a', 'message.delivered'],
        ['a', 'session.stopping'],
      ])
      expect(store.pending('a').map(item => [item.sessionId, item.effect])).toEqual([
        ['a', { type: 'launch', attempt: 1 }],
        ['a', { type: 'interrupt', attempt: 1 }],
      ])
    })

    test('keeps text of any kind', () => {
      const odd = `'"\\ \u0001 \u2028 🚀 ${'x'.repeat(100_000)}`
      const session = accept('a', { title: odd, cwd: odd, argv: [odd] })
      expect(store.load('a')).toEqual(session)
    })

    test('settles an effect once, and no other', () => {
      happen(accept('a'), stop(AT))
      accept('b')
      const [launch] = store.pending('a')
      store.settle(launch?.key ?? '')
      store.settle(launch?.key ?? '')
      expect(store.pending().map(item => `${item.sessionId} ${item.effect.type}`)).toEqual(['a interrupt', 'b launch'])
    })

    test('never gives a key twice', () => {
      accept('a')
      const [first] = store.pending('a')
      store.settle(first?.key ?? '')
      store.remove('a')
      accept('b')
      expect(store.pending('b')[0]?.key).not.toBe(first?.key)
    })

    test('tells the living from the ended, the oldest first, and all with the newest first', () => {
      const older = accept('old', { createdAt: AT - 1 })
      accept('new', { createdAt: AT + 1 })
      accept('mid')
      happen(older, crash, gone, stop(AT + 5))
      expect(store.live().map(session => session.spec.id)).toEqual(['mid', 'new'])
      expect(store.all().map(session => session.spec.id)).toEqual(['new', 'mid', 'old'])
    })

    test('knows whose alarm rings next', () => {
      accept('none')
      accept('late', { maxTime: 9_000 })
      accept('soon', { maxTime: 5_000 })
      happen(accept('resting'), crash, gone)
      expect(store.nextDue()).toBe(AT + 100)
      expect(store.due(AT + 99)).toEqual([])
      expect(store.due(AT + 5_000)).toEqual(['resting', 'soon'])
      expect(store.due(AT + 9_000)).toEqual(['resting', 'soon', 'late'])
    })

    test('forgets a session with all that belongs to it', () => {
      accept('a')
      accept('b')
      store.remove('a')
      expect([store.load('a'), store.events('a'), store.pending('a')]).toEqual([undefined, [], []])
      expect([store.all().length, store.pending().length]).toEqual([1, 1])
      store.remove('a')
    })

    test('has everything again when it is opened again, under the next epoch', () => {
      const session = accept('a')
      const { epoch } = store
      const before = [store.all(), store.events('a'), store.pending()]
      store.close()
      store = bench.open()
      expect(store.epoch).toBe(epoch + 1)
      expect([store.all(), store.events('a'), store.pending()]).toEqual(before)
      expect(store.load('a')).toEqual(session)
    })

    test('that was superseded writes nothing more', () => {
      const session = accept('a')
      const [launch] = store.pending('a')
      const other = bench.open()
      const before = [other.all(), other.events('a'), other.pending()]
      expect(() => store.assertEpoch()).toThrow(Superseded)
      expect(() => store.record(step({ ...session, attempt: 9 }, []))).toThrow(Superseded)
      expect(() => store.settle(launch?.key ?? '')).toThrow(Superseded)
      expect(() => store.remove('a')).toThrow(Superseded)
      expect([other.all(), other.events('a'), other.pending()]).toEqual(before)
      other.assertEpoch()
      other.close()
    })
  })
}
