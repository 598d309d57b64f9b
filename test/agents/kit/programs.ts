import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import versions from '../versions.json' with { type: 'json' }

export type Kind = keyof typeof versions

interface Program {
  readonly package: string
  readonly version: string
  readonly command: string
  /** The version of Node it needs, installed beside it; absent if any version works. */
  readonly node?: string
}

/** The pinned agent programs that the tests run. */
export const PROGRAMS: Readonly<Record<Kind, Program>> = versions

/** Returns the installed program. Throws and says what to do if it is missing. */
export function program(kind: Kind): string {
  const { command, version } = PROGRAMS[kind]
  const file = path.join(binFolderOf(kind), command)
  if (!fs.existsSync(file)) throw new Error(`${kind} ${version} is not installed: npm run test:agents`)
  return file
}

/** Returns the folder of the program and its Node. */
export function binFolderOf(kind: Kind): string {
  const cache = process.env['ONESHOT_AGENTS_CACHE'] || path.join(os.homedir(), '.cache', 'oneshot-test-agents')
  return path.join(cache, `${kind}-${PROGRAMS[kind].version}`, 'node_modules', '.bin')
}
