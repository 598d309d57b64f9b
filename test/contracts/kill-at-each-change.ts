import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect } from 'vitest'
import { bundleProgram } from '../../testkit/system/child-program.ts'
import { type RandomSource, seededRandom, pick } from '../chaos/seeded-random.ts'
import type { GitFixture } from './git-fixture.ts'
import {
  runInProcess,
  type KillPoint,
  KILL_TIMINGS,
  type KillTiming,
  LONGEST_GIT_CALL,
  recordGitCalls,
  type MethodCall,
} from './worktrees-process.ts'

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
/** How often each call is fatal: once in a way that is drawn by lot; from 4 on in every way. */
const KILLS = Number(process.env['KILLS'] ?? 1)

/** Something that can be cut short: where it is done, what is done, and what must be true after it was done again. */
export interface KillScenario {
  readonly bench: GitFixture
  readonly deed: MethodCall
  readonly again: () => Promise<void>
}

/** The calls of git that change more than objects and indexes of our own. */
const CHANGING_COMMANDS =
  /^(worktree (add|remove)|merge |reset |update-ref |symbolic-ref (-m |HEAD)|clean |read-tree --reset|checkout-index |rebase |init |add )/

/** The program by which somebody who may be killed does one thing. */
export function bundleWorktreesProgram(): () => string {
  let program = ''
  beforeAll(async () => {
    program = await bundleProgram(path.join(path.dirname(fileURLToPath(import.meta.url)), 'worktrees-program.ts'))
  })
  afterAll(() => fs.rmSync(program))
  return () => program
}

/** Cuts it short at each call of git that changes something. */
export async function killAtEachChange(
  name: string,
  program: string,
  stage: () => Promise<KillScenario>,
): Promise<void> {
  const first = await stage()
  const calls = await recordGitCalls(first.bench, program, first.deed)
  await first.again()
  const fatal = calls.flatMap((call, at) => (CHANGING_COMMANDS.test(call) ? [at + 1] : []))
  expect(fatal, 'something is changed').not.toEqual([])
  const random = seededRandom(SEED, name)
  for (const at of fatal) {
    for (const how of pickTimings(random)) {
      const death: KillPoint = { at, how, torn: Math.floor(random() * LONGEST_GIT_CALL) }
      await describingFailure(`SEED=${SEED} KILLS=${KILLS}, ${how} ${calls[at - 1]}, ${death.torn}`, async () => {
        const { bench: fixture, deed, again } = await stage()
        expect(await runInProcess(fixture, program, deed, death), 'it is killed').toBeNull()
        await again()
      })
    }
  }
}

function pickTimings(random: RandomSource): KillTiming[] {
  if (KILLS >= KILL_TIMINGS.length)
    return Array.from({ length: Math.floor(KILLS / KILL_TIMINGS.length) }, () => KILL_TIMINGS).flat()
  return Array.from({ length: KILLS }, () => pick(KILL_TIMINGS, random()) ?? 'torn')
}

async function describingFailure(what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (cause) {
    throw new Error(`${what}: ${String(cause)}`, { cause })
  }
}
