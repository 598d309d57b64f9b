import os from 'node:os'
import path from 'node:path'
import { realPath } from '../disk.ts'

/** Where claude keeps its settings and its threads. */
export function configFolder(env: Readonly<Record<string, string>>): string {
  return env['CLAUDE_CONFIG_DIR'] || path.join(env['HOME'] || os.homedir(), '.claude')
}

/** The folder of a working directory's threads. Symbolic links are resolved; all but letters and digits become dashes. */
export function projectFolder(env: Readonly<Record<string, string>>, cwd: string): string {
  const real = realPath(cwd).normalize('NFC')
  const name = real.replace(/[^a-zA-Z0-9]/g, '-')
  const short = name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME)}-${checksum(real)}`
  return path.join(configFolder(env), 'projects', short)
}

/** Beyond this many characters claude cuts the name and adds a checksum. */
const LONGEST_NAME = 200

function checksum(text: string): string {
  let sum = 0
  for (let at = 0; at < text.length; at++) sum = ((sum << 5) - sum + text.charCodeAt(at)) | 0
  return Math.abs(sum).toString(36)
}
