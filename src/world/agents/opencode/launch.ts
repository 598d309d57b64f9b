import type { LaunchPlan, LaunchRequest } from '../../../ports/agent.ts'
import { parseObject } from '../shared/json.ts'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { realPath } from '../shared/files.ts'

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
