import fs from 'node:fs'
import path from 'node:path'
import type { Agent, LaunchPlan, LaunchRequest, ExitEvidence } from '../../../ports/agent.ts'
import { findThread } from './find-thread.ts'
import { validate } from './validate-launch.ts'
import { readLine } from './parse-output.ts'
import { restoreState } from './parser-state.ts'
import { parseObject } from '../shared/tolerant-json.ts'
import { createRequire } from 'node:module'
import { realPath } from '../shared/tolerant-file-reads.ts'
import type { Failure } from '../../../core/session/failure.ts'
import type { TurnResult } from '../../../core/session/attempt.ts'
import { renderTerminalText } from '../../../lib/text/strip-terminal-controls.ts'
import { failedTurn, makeFailure } from '../shared/turn-result.ts'

/** opencode, run as `opencode run --format json`: one turn for each process; the turn ends when the process exits. */
export const opencode: Agent = {
  kind: 'opencode',
  proof: 'end-event',
  defaultMode: 'headless',
  modes: ['headless'],
  // opencode 1.18 retries in silence, 5 min for each try.
  silence: 15 * 60_000,
  takesPrompt: true,
  program: 'opencode',
  validate,
  planLaunch,
  resumeCommand: (program, thread) => [program, 'run', '--session', thread, 'Continue.'],
  readLine,
  findThread,
  explainExit,
}

export function planLaunch(request: LaunchRequest): LaunchPlan {
  const [program = 'opencode', ...own] = request.argv
  return {
    argv: [findBinary(program), 'run', '--format', 'json', ...requestArguments(request), ...own],
    // opencode 1.18.33 works in $PWD, regardless of its working directory; a thread that resumes in another folder
    // hangs for ever.
    env: { PWD: request.cwd, ...permissionVariables(request) },
    stdin: 'text',
  }
}

/**
 * The title lets findThread find a thread whose id opencode never reported. opencode keeps a given title and does not
 * invent one.
 */
function requestArguments({ autonomy, tag, resume, model, effort }: LaunchRequest): string[] {
  return [
    ...(autonomy === 'full' ? ['--auto'] : []),
    ...(resume === null ? ['--title', tag] : ['--session', resume]),
    ...(model === null ? [] : ['--model', model]),
    ...(effort === null ? [] : ['--variant', effort]),
  ]
}

/**
 * Without `--auto` opencode edits and runs commands inside its folder, and refuses every action that needs a question.
 * With these rules, which extend the user's own, it has to ask for every edit and command; the user's configuration
 * still decides about tools of MCP servers.
 */
function permissionVariables({ autonomy, env }: LaunchRequest): Readonly<Record<string, string>> {
  if (autonomy !== 'ask') return {}
  const own = parseObject(env['OPENCODE_PERMISSION'] ?? '{}') ?? {}
  return { OPENCODE_PERMISSION: JSON.stringify({ ...own, edit: 'ask', bash: 'ask' }) }
}

/**
 * Returns the program itself when `program` is a script of the npm package, else `program`: after a kill of the script,
 * the real program may continue to work. In opencode 1.18.33 the package's own file is the program, unless its install
 * script did not run; in older versions it is always a script.
 */
export function findBinary(program: string, machine?: Machine): string {
  const wrapper = realPath(program)
  if (!/\/opencode-ai\/bin\/opencode(\.exe)?$/.test(wrapper) || !isScript(wrapper)) return program
  const { resolve } = createRequire(wrapper)
  for (const name of packageNames(machine ?? currentMachine())) {
    const binary = binaryInPackage(name, resolve)
    if (binary !== undefined) return binary
  }
  return program
}

interface Machine {
  readonly platform: string
  readonly arch: string
  readonly hasAvx2: boolean
  readonly hasMusl: boolean
}

function currentMachine(): Machine {
  const { platform, arch } = process
  return { platform, arch, hasAvx2: hasAvx2(), hasMusl: fs.existsSync('/etc/alpine-release') }
}

function hasAvx2(): boolean {
  try {
    return /\bavx2\b/.test(fs.readFileSync('/proc/cpuinfo', 'utf8'))
  } catch {
    return false // macOS, or we may not read it.
  }
}

/** Returns the most likely package first. `baseline` runs on every x64, so it comes first when we know no better. */
function packageNames({ platform, arch, hasAvx2, hasMusl }: Machine): string[] {
  const base = `opencode-${platform}-${arch}`
  const builds = arch === 'x64' ? (hasAvx2 ? [base, `${base}-baseline`] : [`${base}-baseline`, base]) : [base]
  return hasMusl ? builds.map(build => `${build}-musl`) : builds
}

function binaryInPackage(name: string, resolve: (id: string) => string): string | undefined {
  try {
    const binary = path.join(path.dirname(resolve(`${name}/package.json`)), 'bin/opencode')
    return fs.existsSync(binary) ? binary : undefined
  } catch {
    return undefined // The package is not installed.
  }
}

function isScript(file: string): boolean {
  try {
    const fd = fs.openSync(file, 'r')
    const start = Buffer.alloc(2)
    fs.readSync(fd, start, 0, 2, 0)
    fs.closeSync(fd)
    return start.toString() === '#!'
  } catch {
    return false // The start of the program will report the error.
  }
}

/** Explains an exit for which opencode reported no turn result, or a wrong one. */
export function explainExit({ exit, word, stderr, memory }: ExitEvidence): TurnResult | null {
  if (exit.kind !== 'code' || word?.ok === false) return null
  const lines = renderTerminalText(stderr, { colour: false }).split('\n')
  const unexplained = word === null ? (findStderrFailure(lines) ?? findUnfinishedTurn(exit.code, memory)) : null
  const failure = findDenial(lines) ?? unexplained
  return failure === null ? null : failedTurn(failure)
}

const PERMISSION_REQUESTED = 'permission requested: '
const AUTO_REJECTED = '; auto-rejecting'

/** Only stderr shows refusals of subagents' calls. */
function findDenial(lines: readonly string[]): Failure | null {
  const request = lines.findLast(
    line => line.lastIndexOf(AUTO_REJECTED) > line.indexOf(PERMISSION_REQUESTED) && line.includes(PERMISSION_REQUESTED),
  )
  if (request === undefined) return null
  const from =
    request.lastIndexOf(PERMISSION_REQUESTED, request.lastIndexOf(AUTO_REJECTED)) + PERMISSION_REQUESTED.length
  const what = request.slice(from, request.indexOf(AUTO_REJECTED, from))
  return makeFailure('denied', `opencode was refused ${what}`, 'give the session more autonomy')
}

/** Finds the error that opencode prints when it exits before a turn began. */
function findStderrFailure(lines: readonly string[]): Failure | null {
  for (const line of lines) {
    if (line.startsWith('Error: Session not found')) return makeFailure('thread-lost', line)
    if (SETUP_ERRORS.test(line)) return makeFailure('setup', line)
    if (line.startsWith('opencode run [message..]')) {
      return makeFailure('setup', 'opencode prints its help: it does not know an argument it was given')
    }
  }
  return null
}

const SETUP_ERRORS =
  /^Error: (?:Config|.*not valid JSON|You must provide a message|File not found|Failed to change directory)/

/** opencode 1.18.33 exits 0 when its turn stops after tool calls. */
function findUnfinishedTurn(code: number, memory: ExitEvidence['memory']): Failure | null {
  if (code !== 0 || restoreState(memory).thread === '') return null
  return makeFailure('empty', 'opencode ended in the midst of its work, after it had called tools')
}
