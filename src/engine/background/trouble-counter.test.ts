import { beforeEach, expect, test } from 'vitest'
import { testSessionId } from '../../../testkit/core/ids.ts'
import type { RepeatedTrouble } from '../../core/describe/repeated-action-failures.ts'
import { Trouble } from '../../lib/errors.ts'
import { TroubleCounter } from './trouble-counter.ts'

let now: number
let isFull: boolean
let stored: Map<string, RepeatedTrouble>
let writes: number
beforeEach(() => {
  now = 1_000
  isFull = false
  stored = new Map()
  writes = 0
})

function newCounter(): TroubleCounter {
  const assertRoom = (): void => {
    if (isFull) throw new Error('ENOSPC')
  }
  return new TroubleCounter(
    { now: () => now, monotonic: () => now },
    {
      read: id => stored.get(id) ?? null,
      write: (id, trouble) => {
        assertRoom()
        writes++
        stored.set(id, trouble)
      },
      remove: id => {
        assertRoom()
        stored.delete(id)
      },
    },
  )
}

function failTimes(counter: TroubleCounter, times: number, doing = 'closing the panes'): void {
  for (let time = 0; time < times; time++) {
    counter.addFailure(testSessionId('s1'), doing, new Error(`reason at ${now}`))
    now += 5_000
  }
}

test('the counter records failures in a row from the second on, with the first time and the last reason', () => {
  const counter = newCounter()
  failTimes(counter, 1)
  expect(stored.size).toBe(0)
  failTimes(counter, 2)
  expect(stored.get('s1')).toEqual({ doing: 'closing the panes', count: 3, since: 1_000, reason: 'reason at 11000' })
})

test('a success removes the record and ends the count', () => {
  const counter = newCounter()
  failTimes(counter, 3)
  counter.clear(testSessionId('s1'))
  expect(stored.size).toBe(0)
  failTimes(counter, 1)
  expect(stored.size).toBe(0)
})

test('the failure of another action removes the record and starts a new count', () => {
  const counter = newCounter()
  failTimes(counter, 3)
  failTimes(counter, 1, 'starting attempt 2')
  expect(stored.size).toBe(0)
  failTimes(counter, 1, 'starting attempt 2')
  expect(stored.get('s1')).toMatchObject({ doing: 'starting attempt 2', count: 2, since: 16_000 })
})

test('the next supervisor continues the count, or clears it', () => {
  failTimes(newCounter(), 3)
  const next = newCounter()
  next.load([testSessionId('s1'), testSessionId('s2')])
  failTimes(next, 1)
  expect(stored.get('s1')).toMatchObject({ count: 4, since: 1_000 })
  const last = newCounter()
  last.load([testSessionId('s1'), testSessionId('s2')])
  last.clear(testSessionId('s1'))
  expect(stored.size).toBe(0)
})

test('many failures within two seconds cause one write', () => {
  const counter = newCounter()
  for (let time = 0; time < 1_000; time++) {
    counter.addFailure(testSessionId('s1'), 'closing the panes', 'no')
    now += 1
  }
  expect(writes).toBe(1)
  now += 2_000
  counter.addFailure(testSessionId('s1'), 'closing the panes', 'no')
  expect([writes, stored.get('s1')?.count]).toEqual([2, 1_001])
})

test('a full disk delays the record and its removal, and harms nothing else', () => {
  const counter = newCounter()
  isFull = true
  failTimes(counter, 3)
  expect(stored.size).toBe(0)
  isFull = false
  failTimes(counter, 1)
  expect(stored.get('s1')?.count).toBe(4)
  isFull = true
  counter.clear(testSessionId('s1'))
  isFull = false
  counter.clear(testSessionId('s1'))
  expect(stored.size).toBe(0)
})

test('the reason does not repeat the action', () => {
  const counter = newCounter()
  const cause = new Trouble('reading the output', new Error('permission denied'))
  for (const doing of ['reading the output', 'reading the output'])
    counter.addFailure(testSessionId('s1'), doing, cause)
  for (const _ of [1, 2]) counter.addFailure(testSessionId('s2'), 'closing the panes', cause)
  expect(stored.get('s1')?.reason).toBe('permission denied')
  expect(stored.get('s2')?.reason).toBe('reading the output: permission denied')
})
