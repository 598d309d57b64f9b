import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import versions from '../versions.json' with { type: 'json' }

export type Kind = keyof typeof versions

interface Program {
  readonly package: string
  readonly version: string
  readonly command: string
  /** The version of Node it wants, installed beside it; absent when any will do. */
  readonly node?: string
}

/** The real agent programs that the tests run, as pinned. */
export const PROGRAMS: Readonly<Record<Kind, Program>> = versions

/** The installed program. Throws with what to do when it is not there. */
export function program(kind: Kind): string {
  const { command, version } = PROGRAMS[kind]
  const file = path.join(binFolderOf(kind), command)
  if (!fs.existsSync(file)) throw new Error(`${kind} ${version} is not installed: npm run test:agents`)
  return file
}

/** Where the program lies, and the Node it wants. */
export function binFolderOf(kind: Kind): string {
  const cache = process.env['ONESHOT_AGENTS_CACHE'] || path.join(os.homedir(), '.cache', 'oneshot-test-agents')
  return path.join(cache, `${kind}-${PROGRAMS[kind].version}`, 'node_modules', '.bin')
}
