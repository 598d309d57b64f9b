import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { bundleProgram, ChildProgram } from '../../testkit/system/child-program.ts'
import { type TempHome, tempHome } from '../../testkit/system/temp-home.ts'
import { waitUntil } from '../../testkit/system/wait-until.ts'
import type { Behaviour } from './lock-newcomer.ts'

const PATIENCE = 1_500
const LONG = 60_000

let program: string
let temp: TempHome
let companions: ChildProgram[]

beforeAll(async () => {
  program = await bundleProgram(path.join(path.dirname(fileURLToPath(import.meta.url)), 'lock-newcomer.ts'))
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

function another(how: Behaviour, patience = PATIENCE): ChildProgram {
  const companion = new ChildProgram(program, temp.home.root, String(patience), how)
  companions.push(companion)
  return companion
}

const many = (how: Behaviour): Promise<string[]> =>
  Promise.all(Array.from({ length: 6 }, () => another(how).readLine()))

/** The newcomer that waits for the holder has written its pid. */
async function isWaiting({ child }: ChildProgram): Promise<void> {
  const file = `${temp.home.lock}.next.pid`
  await waitUntil('it waits', () => fs.existsSync(file) && Number(fs.readFileSync(file, 'latin1')) === child.pid)
}

test('no waiting supervisor replaces one that is busy and does not answer', async () => {
  const slow = another('busy')
  expect(await slow.readLine()).toBe('in charge')
  const answers = await many('busy')
  expect(answers.filter(answer => answer === 'in charge')).toEqual([])
  const sentences = [
    `a supervisor is already running: pid ${slow.child.pid}; it is busy`,
    `already waits for the one that does not answer (pid ${slow.child.pid})`,
  ]
  for (const sentence of sentences) expect(answers).toContainEqual(expect.stringContaining(sentence))
})

test('one waiting supervisor replaces one that makes no progress, however many wait', async () => {
  expect(await another('stuck').readLine()).toBe('in charge')
  const answers = await many('busy')
  expect(answers.filter(answer => answer === 'in charge')).toHaveLength(1)
  const later = await many('busy')
  expect(later.filter(answer => answer === 'in charge')).toEqual([])
})

test('a waiting supervisor replaces a suspended one at once, and does not take the successor for it', async () => {
  const first = another('busy')
  await first.readLine()
  first.child.kill('SIGSTOP')
  const answers = await Promise.all(Array.from({ length: 6 }, () => another('busy', LONG / 20).readLine()))
  expect(answers.filter(answer => answer === 'in charge')).toHaveLength(1)
})

test('a newcomer that was suspended while it waited does not keep others from waiting', async () => {
  const first = another('busy')
  await first.readLine()
  const waiter = another('busy', LONG)
  await isWaiting(waiter)
  waiter.child.kill('SIGSTOP')
  const next = another('busy', LONG)
  await isWaiting(next)
  await first.kill('SIGKILL')
  expect(await next.readLine()).toBe('in charge')
})

test('a newcomer takes charge as soon as the supervisor it waits for has died', async () => {
  const first = another('busy')
  await first.readLine()
  const next = another('busy', LONG)
  await isWaiting(next)
  await first.kill('SIGKILL')
  expect(await next.readLine()).toBe('in charge')
  expect(Number(fs.readFileSync(`${temp.home.lock}.pid`, 'latin1'))).toBe(next.child.pid)
})
