import fs from 'node:fs'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import { isObject, tryParseJson } from '../../lib/codec.ts'
import { Trouble } from '../../lib/errors.ts'
import type { TrackerContext } from '../../ports/tracker.ts'
import { run, type RunResult } from '../../os/run.ts'
import { which } from '../../os/which.ts'

/** Bytes. A list of 200 issues with long descriptions has a tenth of this. */
const MAX_OUTPUT_SIZE = 16 * 1_048_576

/** Returns the bd program on the session's PATH, with a stamp of its file. */
export function findBd({ cwd, env }: TrackerContext): { program: string; version: string } {
  const program = which('bd', env, cwd)
  if (program === undefined) throw new Trouble('looking for bd', 'it is not on the PATH of the session')
  const { mtimeMs, size } = fs.statSync(program)
  return { program, version: `${program} ${mtimeMs} ${size}` }
}

/** Runs bd to its end, without a shell and without stdin. Returns a non-zero exit as a result. */
export async function runBd(context: TrackerContext, args: readonly string[], ending: AbortSignal): Promise<RunResult> {
  const doing = `running bd ${args[0]}`
  const { program } = findBd(context)
  try {
    const ended = await run(program, args, {
      cwd: context.cwd,
      env: bdEnvironment(context),
      signal: ending,
      most: MAX_OUTPUT_SIZE,
    })
    if (ended.code === null) throw new Error(ending.aborted ? 'it took too long' : `it was killed by ${ended.signal}`)
    return ended
  } catch (cause) {
    throw new Trouble(doing, cause)
  }
}

/** Runs bd and throws if it fails. */
export async function runBdCommand(
  context: TrackerContext,
  args: readonly string[],
  ending: AbortSignal,
): Promise<void> {
  const ended = await runBd(context, args, ending)
  if (ended.code !== 0) throw bdFailure(args, ended)
}

/** Runs bd and returns its JSON output; undefined if it succeeds and prints nothing. */
export async function readBdJson(
  context: TrackerContext,
  args: readonly string[],
  ending: AbortSignal,
): Promise<unknown> {
  const ended = await runBd(context, [...args, '--json'], ending)
  if (ended.code !== 0) throw bdFailure(args, ended)
  if (ended.stdout.trim() === '') return undefined
  const answer = parseOutput(ended.stdout)
  if (answer === undefined) throw new Trouble(`running bd ${args[0]}`, 'its answer is not JSON')
  return answer
}

function bdEnvironment({ env }: TrackerContext): NodeJS.ProcessEnv {
  return {
    ...env,
    BD_JSON_ENVELOPE: '1',
    BD_NON_INTERACTIVE: '1',
    BEADS_NO_DAEMON: '1', // bd 0.49: otherwise each call leaves a daemon behind.
    NO_COLOR: '1',
  }
}

/** bd 1.0: some commands print errors as JSON on stdout, others as text for people on stderr. */
function bdFailure([command]: readonly string[], { code, stdout, stderr }: RunResult): Trouble {
  const answer = parseOutput(stdout)
  const error = isObject(answer) ? answer['error'] : undefined
  const message = typeof error === 'string' ? error : lastLine(stderr)
  return new Trouble(
    `running bd ${command}`,
    `exit code ${code}${message === '' ? '' : `: ${toOneLine(message).slice(0, 200)}`}`,
  )
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? ''
}

/** bd 1.0 wraps its output, older versions do not; returns undefined for invalid JSON. */
function parseOutput(stdout: string): unknown {
  return tryParseJson(stdout, value => ({ data: unwrap(value) }))?.data
}

function unwrap(value: unknown): unknown {
  return isObject(value) && 'schema_version' in value && 'data' in value ? value['data'] : value
}
