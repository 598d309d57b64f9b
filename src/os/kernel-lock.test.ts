import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { KernelLock } from './kernel-lock.ts'

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lock-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

test('a lock takes no space on the disk, so that a full disk does not prevent it', () => {
  const file = path.join(folder, 'lock.db')
  const lock = KernelLock.tryAcquire(file)
  expect(fs.readdirSync(folder)).toEqual(['lock.db'])
  expect(fs.statSync(file).size).toBe(0)
  lock?.release()
  expect(fs.readdirSync(folder)).toEqual(['lock.db'])
})
