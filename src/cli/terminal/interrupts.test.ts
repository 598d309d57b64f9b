import { expect, test } from 'vitest'
import { untilInterrupted } from './interrupts.ts'
import type { Output } from './output.ts'

const untilAborted = (signal: AbortSignal) =>
  new Promise<string>(resolve => signal.addEventListener('abort', () => resolve('cut short')))

test('a look that ends by itself has a value', async () => {
  expect(await untilInterrupted({}, async () => 42)).toEqual({ ended: 'by-itself', value: 42 })
})

test('Ctrl-C ends the looking, and afterwards Ctrl-C is nobody’s business again', async () => {
  const listening = process.listenerCount('SIGINT')
  const glance = untilInterrupted({}, untilAborted)
  process.emit('SIGINT')
  expect(await glance).toEqual({ ended: 'interrupted' })
  expect(process.listenerCount('SIGINT')).toBe(listening)
})

test('so does a time limit', async () => {
  expect(await untilInterrupted({ timeout: 1 }, untilAborted)).toEqual({ ended: 'timed-out' })
})

test('so does a reader who has seen enough', async () => {
  const reader = new AbortController()
  const glance = untilInterrupted({ outlet: { closed: reader.signal } as Output }, untilAborted)
  reader.abort()
  expect(await glance).toEqual({ ended: 'unread' })
})

test('an error while looking is an error; one that only says it was cut short is not', async () => {
  await expect(untilInterrupted({}, () => Promise.reject(new Error('disk gone')))).rejects.toThrow('disk gone')
  const torn = (signal: AbortSignal) => untilAborted(signal).then(() => Promise.reject(new Error('aborted')))
  expect(await untilInterrupted({ timeout: 1 }, torn)).toEqual({ ended: 'timed-out' })
})
