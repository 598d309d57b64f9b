import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { waitUntil } from '../../../testkit/system/wait-until.ts'
import { onceFileGrows } from './file-watcher.ts'

let folder: string
let file: string
let reports: number
const report = (): void => void reports++
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'os-grown-'))
  file = path.join(folder, 'file')
  fs.writeFileSync(file, 'one')
  reports = 0
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

test('onceFileGrows reports many changes once', async () => {
  onceFileGrows(file, 3, report)
  for (let i = 0; i < 20; i++) fs.appendFileSync(file, 'more')
  await waitUntil('it is told', () => reports > 0)
  fs.appendFileSync(file, 'more')
  await pause(50)
  expect(reports).toBe(1)
})

test('onceFileGrows reports a change that came before the call', async () => {
  onceFileGrows(file, 2, report)
  await waitUntil('it is told', () => reports > 0)
})

test('a cancelled watch reports nothing, and a missing file causes no error', async () => {
  onceFileGrows(file, 3, report)()
  onceFileGrows(path.join(folder, 'nothing'), 0, report)()
  fs.appendFileSync(file, 'more')
  await pause(50)
  expect(reports).toBe(0)
})
