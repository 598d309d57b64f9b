import { expect, test } from 'vitest'
import { DiskWatch } from './disk-watch.ts'

test('a full disk is told once, and once that there is room again', () => {
  const said: string[] = []
  let hasRoom = false
  const watch = new DiskWatch(
    sentence => said.push(sentence),
    () => hasRoom,
  )
  const full = Object.assign(new Error('x'), { code: 'ENOSPC' })
  for (const cause of [full, new Error('database or disk is full'), new Error('disk I/O error')])
    expect(watch.isWhy(cause)).toBe(true)
  expect(watch.isWhy(new Error('tmux is gone'))).toBe(false)
  watch.look()
  hasRoom = true
  watch.look()
  watch.look()
  expect(said).toEqual([expect.stringMatching(/disk is full/), expect.stringMatching(/room again/)])
})
