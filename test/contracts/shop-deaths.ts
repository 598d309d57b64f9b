import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect } from 'vitest'
import { bundled } from '../../src/testkit/real/companion.ts'
import { type Dice, dice, pick } from '../chaos/dice.ts'
import type { GitBench } from './git-bench.ts'
import { byHand, type Death, HOW, type How, LONGEST, rehearse, type Words } from './shop-hands.ts'

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
/** How often each call is fatal: once in a way that is drawn by lot; from 4 on in every way. */
const KILLS = Number(process.env['KILLS'] ?? 1)

/** Something that can be cut short: where it is done, what is done, and what must be true after it was done again. */
export interface Scene {
  readonly bench: GitBench
  readonly deed: Words
  readonly again: () => Promise<void>
}

/** The calls of git that change more than objects and indexes of our own. */
const CHANGES =
  /^(worktree (add|remove)|merge |reset |update-ref |symbolic-ref (-m |HEAD)|clean |read-tree --reset|checkout-index |rebase |init |add )/

/** The program by which somebody who may be killed does one thing. */
export function theProgram(): () => string {
  let program = ''
  beforeAll(async () => {
    program = await bundled(path.join(path.dirname(fileURLToPath(import.meta.url)), 'shop-hand.ts'))
  })
  afterAll(() => fs.rmSync(program))
  return () => program
}

/** Cuts it short at each call of git that changes something. */
export async function killAtEachChange(name: string, program: string, stage: () => Promise<Scene>): Promise<void> {
  const first = await stage()
  const calls = await rehearse(first.bench, program, first.deed)
  await first.again()
  const fatal = calls.flatMap((call, at) => (CHANGES.test(call) ? [at + 1] : []))
  expect(fatal, 'something is changed').not.toEqual([])
  const roll = dice(SEED, name)
  for (const at of fatal) {
    for (const how of waysBy(roll)) {
      const death: Death = { at, how, torn: Math.floor(roll() * LONGEST) }
      await telling(`SEED=${SEED} KILLS=${KILLS}, ${how} ${calls[at - 1]}, ${death.torn}`, async () => {
        const { bench, deed, again } = await stage()
        expect(await byHand(bench, program, deed, death), 'it is killed').toBeNull()
        await again()
      })
    }
  }
}

function waysBy(roll: Dice): How[] {
  if (KILLS >= HOW.length) return Array.from({ length: Math.floor(KILLS / HOW.length) }, () => HOW).flat()
  return Array.from({ length: KILLS }, () => pick(HOW, roll()) ?? 'torn')
}

async function telling(what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (cause) {
    throw new Error(`${what}: ${String(cause)}`, { cause })
  }
}
