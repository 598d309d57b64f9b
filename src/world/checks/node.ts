import fs from 'node:fs'
import path from 'node:path'
import { type Finding, type Site, textOf } from './site.ts'

/** By whose lock file it is that installs the packages; the script is run by the same. */
const LOCKS: readonly (readonly [file: string, program: Runner])[] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['package-lock.json', 'npm'],
]

/** `bun test` is not the script but a runner of its own. */
const LINES = { npm: 'npm test', pnpm: 'pnpm test', yarn: 'yarn test', bun: 'bun run test' } as const

type Runner = keyof typeof LINES

/** What `npm init` writes exits with 1 and tests nothing. */
const PLACEHOLDER = /no test specified/

export function node(site: Site): Finding | null {
  const manifest = parse(textOf(site, 'package.json'))
  const script = manifest?.scripts?.['test']
  if (typeof script !== 'string' || script.trim() === '' || PLACEHOLDER.test(script)) return null
  const program = named(manifest?.packageManager) ?? lockedBy(site) ?? 'npm'
  return { line: LINES[program], why: 'package.json has a test script', program }
}

interface Manifest {
  readonly scripts?: Readonly<Record<string, unknown>> | null
  readonly packageManager?: unknown
}

function parse(text: string | null): Manifest | null {
  try {
    return text === null ? null : (JSON.parse(text) as Manifest | null)
  } catch {
    return null // Somebody is just writing it, or it is broken: npm could not read it either.
  }
}

/** `pnpm@9.1.0` */
function named(packageManager: unknown): Runner | undefined {
  const name = typeof packageManager === 'string' ? packageManager.split('@')[0] : undefined
  return name !== undefined && Object.hasOwn(LINES, name) ? (name as Runner) : undefined
}

/** The nearest lock file, up to the top: a workspace has one for all of its packages. */
function lockedBy({ folder, top }: Site): Runner | undefined {
  for (let at = folder; ; at = path.dirname(at)) {
    const lock = LOCKS.find(([file]) => fs.existsSync(path.join(at, file)))
    if (lock !== undefined) return lock[1]
    if (at === top || at === path.dirname(at)) return undefined
  }
}
