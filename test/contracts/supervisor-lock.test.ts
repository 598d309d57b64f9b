import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { bundleProgram, ChildProgram } from '../../testkit/system/child-program.ts'
import type { Answer } from './lock-holder.ts'
import { type TempHome, tempHome } from '../../testkit/system/temp-home.ts'

let program: string
let temp: TempHome
let companions: ChildProgram[]

beforeAll(async () => {
  program = await bundleProgram(path.join(path.dirname(fileURLToPath(import.meta.url)), 'lock-holder.ts'))
})
afterAll(() => fs.rmSync(program))
beforeEach(() => {
  temp = tempHome()
  companions = []
})
afterEach(async () => {
  await Promise.all(companions.map(companion => companion.kill()))
  await temp.assertNoLeaks()
})

function another(how = 'take'): ChildProgram {
  const companion = new ChildProgram(program, temp.home.lock, how)
  companions.push(companion)
  return companion
}

test('the lock refuses a second supervisor, and a third one gets it after the kill of the first', async () => {
  const first = another()
  expect(await first.readLine()).toBe('held')
  expect(await another().readLine()).toBe('refused')
  await first.kill('SIGKILL')
  expect(await another().readLine()).toBe('held')
})

test('exactly one of many supervisors that start at once gets the lock', async () => {
  const all = await Promise.all(Array.from({ length: 6 }, () => another().readLine()))
  const one: Answer[] = ['held', 'refused', 'refused', 'refused', 'refused', 'refused']
  expect(all.sort()).toEqual(one)
})

test('a supervisor can seize the lock of a suspended one, and keeps it', async () => {
  const first = another()
  await first.readLine()
  first.child.kill('SIGSTOP')
  expect(await another().readLine()).toBe('refused')
  const second = another('seize')
  expect(await second.readLine()).toBe('held')
  first.child.kill('SIGCONT')
  expect(await another().readLine()).toBe('refused')
  await first.kill('SIGKILL')
  expect(await another().readLine()).toBe('refused')
  await second.kill('SIGKILL')
  expect(await another().readLine()).toBe('held')
})
