import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { until } from '../../testkit/real/until.ts'
import { whenGrown } from './when-grown.ts'

let folder: string
let file: string
let told: number
const tell = (): void => void told++
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'os-grown-'))
  file = path.join(folder, 'file')
  fs.writeFileSync(file, 'one')
  told = 0
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

test('a change is told once, however many there are', async () => {
  whenGrown(file, 3, tell)
  for (let i = 0; i < 20; i++) fs.appendFileSync(file, 'more')
  await until('it is told', () => told > 0)
  fs.appendFileSync(file, 'more')
  await pause(50)
  expect(told).toBe(1)
})

test('what has changed before it was asked for is told as well', async () => {
  whenGrown(file, 2, tell)
  await until('it is told', () => told > 0)
})

test('whoever has left hears nothing, and a file that is not there is no trouble', async () => {
  whenGrown(file, 3, tell)()
  whenGrown(path.join(folder, 'nothing'), 0, tell)()
  fs.appendFileSync(file, 'more')
  await pause(50)
  expect(told).toBe(0)
})
