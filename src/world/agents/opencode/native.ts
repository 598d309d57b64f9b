import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { realPath } from '../disk.ts'

/**
 * The program itself when `program` is a script of the npm package around it, else `program` as it is: a wrapper that
 * is killed may leave the real one working on. In opencode 1.18.33 the package's own file is the program, unless its
 * install script was not run; in older versions it is always a script.
 */
export function native(program: string, machine?: Machine): string {
  const wrapper = realPath(program)
  if (!/\/opencode-ai\/bin\/opencode(\.exe)?$/.test(wrapper) || !isScript(wrapper)) return program
  const { resolve } = createRequire(wrapper)
  for (const name of packages(machine ?? thisMachine())) {
    const binary = binaryOf(name, resolve)
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

function thisMachine(): Machine {
  const { platform, arch } = process
  return { platform, arch, hasAvx2: hasAvx2(), hasMusl: fs.existsSync('/etc/alpine-release') }
}

function hasAvx2(): boolean {
  try {
    return /\bavx2\b/.test(fs.readFileSync('/proc/cpuinfo', 'utf8'))
  } catch {
    return false // macOS, or not ours to read.
  }
}

/** The likeliest first. `baseline` runs on every x64, so it is right where we do not know better. */
function packages({ platform, arch, hasAvx2, hasMusl }: Machine): string[] {
  const base = `opencode-${platform}-${arch}`
  const builds = arch === 'x64' ? (hasAvx2 ? [base, `${base}-baseline`] : [`${base}-baseline`, base]) : [base]
  return hasMusl ? builds.map(build => `${build}-musl`) : builds
}

function binaryOf(name: string, resolve: (id: string) => string): string | undefined {
  try {
    const binary = path.join(path.dirname(resolve(`${name}/package.json`)), 'bin/opencode')
    return fs.existsSync(binary) ? binary : undefined
  } catch {
    return undefined // Not installed.
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
    return false // Starting it will say what is wrong with it.
  }
}
