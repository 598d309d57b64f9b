import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { withStuckReadMarker } from './stuck-read-marker.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'os-mark-'))
  file = path.join(folder, 'reading')
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

const leave = (place: number, age: number): void =>
  fs.writeFileSync(file, `${place} ${process.pid + 1} ${Date.now() - age}`)

test('a supervisor that was killed while it read a line leaves a marker that every later supervisor finds', () => {
  leave(42, 60_000)
  expect(withStuckReadMarker(file, 42, isStuck => isStuck)).toBe(true)
  expect(withStuckReadMarker(file, 42, isStuck => isStuck)).toBe(true)
  expect(withStuckReadMarker(file, 43, isStuck => isStuck)).toBe(false)
})

test('a supervisor that was killed for another reason leaves no marker that counts', () => {
  leave(42, 100)
  expect(withStuckReadMarker(file, 42, isStuck => isStuck)).toBe(false)
})

test('a finished or failed read leaves no marker, and a missing folder does not prevent the read', () => {
  expect(withStuckReadMarker(file, 1, () => fs.readFileSync(file, 'latin1'))).toMatch(/^1 /)
  expect(() =>
    withStuckReadMarker(file, 1, () => {
      throw new Error('no')
    }),
  ).toThrow('no')
  expect(fs.readdirSync(folder)).toEqual([])
  expect(withStuckReadMarker(path.join(folder, 'gone', 'reading'), 1, isStuck => isStuck)).toBe(false)
})
