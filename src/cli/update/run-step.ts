import { refusal } from '../../api/contract/problems.ts'
import type { Refusal } from '../../lib/errors.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import type { Duration } from '../../lib/time.ts'
import { hasCode, NOT_FOUND } from '../../lib/errors.ts'
import { run } from '../../os/run.ts'

/** Downloads and builds take a while; after a quarter of an hour the network is down. */
const STEP_TIMEOUT: Duration = 15 * 60_000

/** The folder and the environment of a step. */
export interface StepPlace {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

/** Runs a step of an update and returns its output, or refuses with its error text. */
export async function runStep(program: string, args: readonly string[], place: StepPlace): Promise<string> {
  const result = await runProgram(program, args, place)
  if (result.code === 0) return result.stdout.trim()
  throw stepFailed(`${program} ${args.slice(0, 2).join(' ')}`, result.stderr || result.stdout, place.cwd)
}

/** Runs a step that may fail, and returns undefined then. */
export async function tryStep(program: string, args: readonly string[], place: StepPlace): Promise<string | undefined> {
  const result = await runProgram(program, args, place)
  return result.code === 0 ? result.stdout.trim() : undefined
}

async function runProgram(program: string, args: readonly string[], place: StepPlace) {
  const env = { ...place.env, GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' }
  try {
    return await run(program, args, { cwd: place.cwd, env, timeout: STEP_TIMEOUT })
  } catch (cause) {
    if (hasCode(cause, ...NOT_FOUND))
      throw refusal('update-impossible', `${program} is not on PATH`, `install ${program}`)
    throw cause
  }
}

function stepFailed(step: string, output: string, cwd: string): Refusal {
  const lines = output
    .trim()
    .split('\n')
    .filter(line => line.trim() !== '')
  const why = toOneLine(lines.slice(-3).join('; ')) || 'it said nothing'
  return refusal('update-impossible', `${step} failed in ${cwd}: ${why}`, 'the running version is unchanged')
}
