import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect } from 'vitest'
import { bundleProgram } from '../../testkit/system/child-program.ts'
import { pick, type RandomSource, SEED, seededRandom } from '../../testkit/system/seeded-random.ts'
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

/** Number of kills per call: one with a random timing; from 4 on, one with every timing. */
const KILLS = Number(process.env['KILLS'] ?? 1)

/** An operation to kill: its fixture, the call, and the check after a repetition. */
export interface KillScenario {
  readonly bench: GitFixture
  readonly deed: MethodCall
  readonly again: () => Promise<void>
}

/** Matches git commands that change more than objects and oneshot's own indexes. */
const CHANGING_COMMANDS =
  /^(worktree (add|remove)|merge |reset |update-ref |symbolic-ref (-m |HEAD)|clean |read-tree --reset|checkout-index |rebase |init |add )/

/** Bundles the program that runs one method in a process which may be killed. */
export function bundleWorktreesProgram(): () => string {
  let program = ''
  beforeAll(async () => {
    program = await bundleProgram(path.join(path.dirname(fileURLToPath(import.meta.url)), 'worktrees-program.ts'))
  })
  afterAll(() => fs.rmSync(program))
  return () => program
}

/** Kills the operation at each git command that changes something. */
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
      await describingFailure(
        `ONESHOT_SEED=${SEED} KILLS=${KILLS}, ${how} ${calls[at - 1]}, ${death.torn}`,
        async () => {
          const { bench: fixture, deed, again } = await stage()
          expect(await runInProcess(fixture, program, deed, death), 'it is killed').toBeNull()
          await again()
        },
      )
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
