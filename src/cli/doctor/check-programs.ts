import { which } from '../../os/which.ts'
import { type Finding, failure, note, ok } from './finding.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import type { Duration } from '../../lib/time.ts'
import { run } from '../../os/run.ts'

export function checkNode(version: string): Finding {
  const major = Number(version.split('.')[0])
  if (major >= 20) return ok('node', `Node ${version}`)
  return failure('node', `Node ${version} is too old`, 'install Node 20 or newer')
}

export async function checkTmux(env: NodeJS.ProcessEnv, cwd: string): Promise<Finding> {
  const program = which('tmux', env, cwd)
  if (program === undefined) return failure('tmux', 'tmux is not on PATH', 'install tmux 3.2 or newer')
  const text = await readVersionLine(program, '-V', env)
  const version = parseTmuxVersion(text)
  if (version === undefined) return note('tmux', `${text || 'a tmux of unknown version'} at ${program}`)
  if (!isAtLeast(version, 3, 2)) return failure('tmux', `${text} is too old`, 'install tmux 3.2 or newer')
  return ok('tmux', `${text} at ${program}`)
}

export function checkTools(env: NodeJS.ProcessEnv, cwd: string): Finding[] {
  return [
    { name: 'setsid', without: 'processes are identified by process group only' },
    { name: 'flock', without: 'a second copy of an attempt is kept out by its claim file only' },
  ].map(({ name, without }) => {
    const program = which(name, env, cwd)
    return program === undefined ? note(name, `not found; ${without}`) : ok(name, program)
  })
}

/** Some agents take seconds to print their version; after a longer time they wait for something. */
const VERSION_TIMEOUT: Duration = 5_000

/** Returns the first line of a program's output; empty when it cannot start or prints nothing. */
export async function readVersionLine(program: string, option: string, env: NodeJS.ProcessEnv): Promise<string> {
  try {
    const { stdout, stderr } = await run(program, [option], { env, timeout: VERSION_TIMEOUT })
    const output = stdout.trim() === '' ? stderr : stdout // pi 0.73.1 prints its version on stderr.
    return toOneLine(output.trim().split('\n', 1)[0] as string).slice(0, 80)
  } catch {
    return '' // The program cannot start; the caller only reports that it exists.
  }
}

/** Returns a release as numbers, `2.1.325` of `2.1.325 (Claude Code)`, or undefined without numbers. */
export function extractVersion(text: string): string | undefined {
  return /\d{1,9}\.\d{1,9}\.\d{1,9}/.exec(text)?.[0]
}

/**
 * Returns a negative number when `a` is older than `b`, and a positive one when it is newer. Both are dotted numbers.
 */
export function compareVersions(a: string, b: string): number {
  const left = a.split('.').map(Number)
  const right = b.split('.').map(Number)
  const differences = left.map((number, at) => number - (right[at] ?? 0))
  return differences.find(difference => difference !== 0) ?? left.length - right.length
}

/** Parses a tmux release: `tmux 3.3a` and `tmux next-3.6` compare as 3.3 and 3.6; returns undefined for others. */
export function parseTmuxVersion(text: string): { readonly major: number; readonly minor: number } | undefined {
  const [, major, minor] = /(\d{1,9})\.(\d{1,9})/.exec(text) ?? []
  return major === undefined || minor === undefined ? undefined : { major: Number(major), minor: Number(minor) }
}

export function isAtLeast(
  version: { readonly major: number; readonly minor: number },
  major: number,
  minor: number,
): boolean {
  return version.major > major || (version.major === major && version.minor >= minor)
}
