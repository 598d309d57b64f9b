import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { bundled, Companion } from '../../src/testkit/real/companion.ts'
import type { Answer } from './lock-holder.ts'
import { type TempHome, tempHome } from '../../src/testkit/real/temp-home.ts'

let program: string
let temp: TempHome
let companions: Companion[]

beforeAll(async () => {
  program = await bundled(path.join(path.dirname(fileURLToPath(import.meta.url)), 'lock-holder.ts'))
})
afterAll(() => fs.rmSync(program))
beforeEach(() => {
  temp = tempHome()
  companions = []
})
afterEach(async () => {
  await Promise.all(companions.map(companion => companion.end()))
  await temp.noLeaks()
})

function another(how = 'take'): Companion {
  const companion = new Companion(program, temp.home.lock, how)
  companions.push(companion)
  return companion
}

test('a second supervisor is refused, and a third gets the lock when the first was killed', async () => {
  const first = another()
  expect(await first.heard()).toBe('held')
  expect(await another().heard()).toBe('refused')
  await first.end('SIGKILL')
  expect(await another().heard()).toBe('held')
})

test('of many that start at once, exactly one is in charge', async () => {
  const all = await Promise.all(Array.from({ length: 6 }, () => another().heard()))
  const one: Answer[] = ['held', 'refused', 'refused', 'refused', 'refused', 'refused']
  expect(all.sort()).toEqual(one)
})

test('the lock of one that is suspended can be seized, and stays with who seized it', async () => {
  const first = another()
  await first.heard()
  first.child.kill('SIGSTOP')
  expect(await another().heard()).toBe('refused')
  const second = another('seize')
  expect(await second.heard()).toBe('held')
  first.child.kill('SIGCONT')
  expect(await another().heard()).toBe('refused')
  await first.end('SIGKILL')
  expect(await another().heard()).toBe('refused')
  await second.end('SIGKILL')
  expect(await another().heard()).toBe('held')
})
