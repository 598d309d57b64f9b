import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { isRefusal, type Refusal } from '../../lib/refusal.ts'
import { hasCode, wordsOf } from '../../lib/trouble.ts'
import { refusal } from '../contract/problems.ts'

export interface ConfigFiles {
  /** Yours, whether it exists or not. */
  readonly user: string
  /** The project's: the nearest one from this directory upward. */
  readonly project: string | null
}

const PROJECT_FILE = '.oneshot.toml'
/** Nobody writes as many settings; a larger one is a mistake or an attack. */
const LARGEST_PROJECT_FILE = 65_536

export function locateFiles(env: NodeJS.ProcessEnv, cwd: string): ConfigFiles {
  return { user: userFile(env), project: nearestUpward(cwd, env.HOME || os.homedir()) }
}

/** The project's file, which a stranger may have written: only a small regular file is read. */
export async function readProjectFile(file: string): Promise<Record<string, unknown>> {
  return await parseToml(file, projectText(file))
}

/** Null when there is no such file. One that ONESHOT_CONFIG names must exist. */
export async function readUserFile(
  env: NodeJS.ProcessEnv,
  { mayBeAbsent = false } = {},
): Promise<Record<string, unknown> | null> {
  const table = await readToml(userFile(env))
  if (table === null && env.ONESHOT_CONFIG && !mayBeAbsent) {
    throw refusal(
      'config-invalid',
      `ONESHOT_CONFIG names ${env.ONESHOT_CONFIG}, which does not exist`,
      'create it or unset it',
    )
  }
  return table
}

async function readToml(file: string): Promise<Record<string, unknown> | null> {
  const text = readIfPresent(file)
  return text === null ? null : await parseToml(file, text)
}

export async function parseToml(file: string, text: string): Promise<Record<string, unknown>> {
  // Most homes have no config file, and a parser that is not loaded costs nothing.
  const { parse } = await import('smol-toml')
  try {
    return parse(text)
  } catch (cause) {
    const sentence = (wordsOf(cause).split('\n', 1)[0] as string).replace('Invalid TOML document: ', '')
    throw refusal('config-invalid', `${file}${placeOf(cause)} is not TOML: ${sentence}`, 'key = "value", one a line')
  }
}

function userFile(env: NodeJS.ProcessEnv): string {
  if (env.ONESHOT_CONFIG) return path.resolve(env.ONESHOT_CONFIG)
  const { XDG_CONFIG_HOME } = env
  const base =
    XDG_CONFIG_HOME && path.isAbsolute(XDG_CONFIG_HOME)
      ? XDG_CONFIG_HOME
      : path.join(env.HOME || os.homedir(), '.config')
  return path.join(base, 'oneshot', 'config.toml')
}

/**
 * Files of other users do not count, and it is not looked for beyond the project: not above the top of its repository or
 * the user's home, and in no folder above that anybody may write to.
 */
function nearestUpward(cwd: string, home: string): string | null {
  for (let folder = cwd; ; folder = path.dirname(folder)) {
    const file = path.join(folder, PROJECT_FILE)
    const stat = fs.lstatSync(file, { throwIfNoEntry: false })
    if (stat !== undefined && isTrusted(stat.uid)) return file
    const above = path.dirname(folder)
    const isTop = folder === above || folder === home || fs.existsSync(path.join(folder, '.git'))
    if (isTop || isOpenToAll(above)) return null
  }
}

function isTrusted(owner: number): boolean {
  return owner === 0 || owner === process.getuid?.()
}

function isOpenToAll(folder: string): boolean {
  return ((fs.statSync(folder, { throwIfNoEntry: false })?.mode ?? 0) & 0o002) !== 0
}

/** Opened so that neither a link is followed nor a pipe waited for, and judged by what was opened. */
function projectText(file: string): string {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants
  try {
    const fd = fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      const stat = fs.fstatSync(fd)
      if (!stat.isFile()) throw unusable(file, 'it is no regular file')
      if (!isTrusted(stat.uid)) throw unusable(file, 'it belongs to somebody else')
      // One byte more, because it may have grown since.
      const bytes = Buffer.alloc(LARGEST_PROJECT_FILE + 1)
      const length = fs.readSync(fd, bytes, 0, bytes.length, 0)
      if (length > LARGEST_PROJECT_FILE) throw unusable(file, 'it is larger than 64 KB')
      return bytes.toString('utf8', 0, length)
    } finally {
      fs.closeSync(fd)
    }
  } catch (cause) {
    if (isRefusal(cause)) throw cause
    throw unusable(file, hasCode(cause, 'ELOOP') ? 'it is no regular file' : wordsOf(cause))
  }
}

function unusable(file: string, why: string): Refusal {
  return refusal('config-invalid', `the config file ${file} cannot be read: ${why}`, 'make it a readable file')
}

function readIfPresent(file: string): string | null {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ENOTDIR')) return null
    throw unusable(file, wordsOf(cause))
  }
}

function placeOf(cause: unknown): string {
  return cause instanceof Error && 'line' in cause && 'column' in cause ? `:${cause.line}:${cause.column}` : ''
}
