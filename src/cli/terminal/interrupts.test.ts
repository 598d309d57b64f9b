import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { untilInterrupted } from './interrupts.ts'
import type { Output } from './output.ts'

const signals = new EventEmitter()

const untilAborted = (signal: AbortSignal) =>
  new Promise<string>(resolve => signal.addEventListener('abort', () => resolve('cut short')))

test('untilInterrupted returns the value of an operation that ends by itself', async () => {
  expect(await untilInterrupted({ signals }, {}, async () => 42)).toEqual({ ended: 'by-itself', value: 42 })
})

test('Ctrl-C ends the operation, and untilInterrupted removes its listener afterwards', async () => {
  const result = untilInterrupted({ signals }, {}, untilAborted)
  signals.emit('SIGINT')
  expect(await result).toEqual({ ended: 'interrupted' })
  expect(signals.listenerCount('SIGINT')).toBe(0)
})

test('a time limit ends the operation', async () => {
  expect(await untilInterrupted({ signals }, { timeout: 1 }, untilAborted)).toEqual({ ended: 'timed-out' })
})

test('a closed output ends the operation', async () => {
  const reader = new AbortController()
  const result = untilInterrupted({ signals }, { outlet: { closed: reader.signal } as Output }, untilAborted)
  reader.abort()
  expect(await result).toEqual({ ended: 'unread' })
})

test('untilInterrupted throws an error of the operation, but not one that follows from the abort', async () => {
  await expect(untilInterrupted({ signals }, {}, () => Promise.reject(new Error('disk gone')))).rejects.toThrow(
    'disk gone',
  )
  const rejectOnAbort = (signal: AbortSignal) => untilAborted(signal).then(() => Promise.reject(new Error('aborted')))
  expect(await untilInterrupted({ signals }, { timeout: 1 }, rejectOnAbort)).toEqual({ ended: 'timed-out' })
})
