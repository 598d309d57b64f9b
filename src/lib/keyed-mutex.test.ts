import { expect, test } from 'vitest'
import { KeyedMutex } from './keyed-mutex.ts'

/** Work that ends on request. */
function controlledWork(): { work: () => Promise<void>; end: () => void } {
  let end = (): void => undefined
  const done = new Promise<void>(resolve => {
    end = resolve
  })
  return { work: () => done, end }
}

test('work with the same key runs one at a time, in order of arrival', async () => {
  const mutex = new KeyedMutex()
  const seen: string[] = []
  const first = controlledWork()
  const pass = (name: string, work = async (): Promise<void> => undefined): Promise<void> =>
    mutex.run('a', async () => {
      seen.push(`${name} in`)
      await work()
      seen.push(`${name} out`)
    })
  const all = [pass('1', first.work), pass('2'), pass('3')]
  await Promise.resolve()
  expect(seen).toEqual(['1 in'])
  first.end()
  await Promise.all(all)
  expect(seen).toEqual(['1 in', '1 out', '2 in', '2 out', '3 in', '3 out'])
})

test('work with different keys runs concurrently', async () => {
  const mutex = new KeyedMutex()
  const long = controlledWork()
  const slow = mutex.run('a', long.work)
  expect(await mutex.run('b', () => 'through')).toBe('through')
  long.end()
  await slow
})

test('failed work rejects for its caller and delays nobody', async () => {
  const mutex = new KeyedMutex()
  const failed = mutex.run('a', () => Promise.reject(new Error('no')))
  const next = mutex.run('a', () => 'through')
  await expect(failed).rejects.toThrow('no')
  expect(await next).toBe('through')
})

test('the mutex is idle when all work is done, including work that arrived meanwhile', async () => {
  const mutex = new KeyedMutex()
  const seen: string[] = []
  const work = controlledWork()
  void mutex.run('a', async () => {
    await work.work()
    void mutex.run('a', () => seen.push('late'))
  })
  const idle = mutex.idle().then(() => seen.push('idle'))
  work.end()
  await idle
  expect(seen).toEqual(['late', 'idle'])
})
