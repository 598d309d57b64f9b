import { expect, test } from 'vitest'
import { DiskWatch } from './disk-watch.ts'

test('a full disk is told once, and once that there is room again', async () => {
  const said: string[] = []
  let hasRoom = false
  const watch = new DiskWatch(
    sentence => said.push(sentence),
    async () => hasRoom,
  )
  const full = Object.assign(new Error('x'), { code: 'ENOSPC' })
  for (const cause of [full, new Error('database or disk is full'), new Error('disk I/O error')])
    expect(watch.isWhy(cause)).toBe(true)
  expect(watch.isWhy(new Error('tmux is gone'))).toBe(false)
  await watch.look()
  hasRoom = true
  await watch.look()
  await watch.look()
  expect(said).toEqual([expect.stringMatching(/disk is full/), expect.stringMatching(/room again/)])
})

test('the supervisor fills the reserve once at a time', async () => {
  let begun = 0
  let end = (_: boolean): void => undefined
  const watch = new DiskWatch(
    () => undefined,
    () => {
      begun++
      return new Promise(resolve => (end = resolve))
    },
  )
  const first = watch.look()
  await watch.look()
  expect(begun).toBe(1)
  end(true)
  await first
  const second = watch.look()
  expect(begun).toBe(2)
  end(true)
  await second
})
