import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type Refusal, errorMessage, hasCode, isRefusal } from '../../lib/errors.ts'
import { refusal } from '../contract/problems.ts'
import { isDeepStrictEqual } from 'node:util'
import { KEYS, type KeyName } from './keys.ts'
import { readTable } from './parse-sources.ts'

export interface ConfigFiles {
  /** The user's file, which may not exist. */
  readonly user: string
  /** The project's file: the nearest one from this directory upward. */
  readonly project: string | null
}

const PROJECT_FILE = '.oneshot.toml'
/** Bytes. No project needs as many settings; a larger file is a mistake or an attack. */
const MAX_PROJECT_FILE_SIZE = 65_536

export function locateFiles(env: NodeJS.ProcessEnv, cwd: string): ConfigFiles {
  return { user: userFile(env), project: findProjectFile(cwd, env.HOME || os.homedir()) }
}

/** Reads the project's file. A stranger may have written it, so this reads only a small regular file. */
export async function readProjectFile(file: string): Promise<Record<string, unknown>> {
  return await parseToml(file, readProjectText(file))
}

/** Returns null when there is no such file. A file that ONESHOT_CONFIG names must exist. */
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

async function parseToml(file: string, text: string): Promise<Record<string, unknown>> {
  // Loads the parser on demand, because most homes have no config file.
  const { parse } = await import('smol-toml')
  try {
    return parse(text)
  } catch (cause) {
    const sentence = (errorMessage(cause).split('\n', 1)[0] as string).replace('Invalid TOML document: ', '')
    throw refusal(
      'config-invalid',
      `${file}${describePosition(cause)} is not TOML: ${sentence}`,
      'key = "value", one a line',
    )
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
 * Finds the project's file. Ignores files of other users. The search stops at the top of the repository and at the
 * user's home, and enters no parent folder that anybody may write to.
 */
function findProjectFile(cwd: string, home: string): string | null {
  for (let folder = cwd; ; folder = path.dirname(folder)) {
    const file = path.join(folder, PROJECT_FILE)
    const stat = fs.lstatSync(file, { throwIfNoEntry: false })
    if (stat !== undefined && isTrustedOwner(stat.uid)) return file
    const above = path.dirname(folder)
    const isTop = folder === above || folder === home || fs.existsSync(path.join(folder, '.git'))
    if (isTop || isWorldWritable(above)) return null
  }
}

function isTrustedOwner(owner: number): boolean {
  return owner === 0 || owner === process.getuid?.()
}

function isWorldWritable(folder: string): boolean {
  return ((fs.statSync(folder, { throwIfNoEntry: false })?.mode ?? 0) & 0o002) !== 0
}

/** Opens the file without following a link or waiting for a pipe, and checks the opened descriptor. */
function readProjectText(file: string): string {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants
  try {
    const fd = fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      const stat = fs.fstatSync(fd)
      if (!stat.isFile()) throw unusableFile(file, 'it is no regular file')
      if (!isTrustedOwner(stat.uid)) throw unusableFile(file, 'it belongs to somebody else')
      // Reads one byte more than allowed, because the file may have grown since.
      const bytes = Buffer.alloc(MAX_PROJECT_FILE_SIZE + 1)
      const length = fs.readSync(fd, bytes, 0, bytes.length, 0)
      if (length > MAX_PROJECT_FILE_SIZE) throw unusableFile(file, 'it is larger than 64 KB')
      return bytes.toString('utf8', 0, length)
    } finally {
      fs.closeSync(fd)
    }
  } catch (cause) {
    if (isRefusal(cause)) throw cause
    throw unusableFile(file, hasCode(cause, 'ELOOP') ? 'it is no regular file' : errorMessage(cause))
  }
}

function unusableFile(file: string, why: string): Refusal {
  return refusal('config-invalid', `the config file ${file} cannot be read: ${why}`, 'make it a readable file')
}

function readIfPresent(file: string): string | null {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ENOTDIR')) return null
    throw unusableFile(file, errorMessage(cause))
  }
}

function describePosition(cause: unknown): string {
  return cause instanceof Error && 'line' in cause && 'column' in cause ? `:${cause.line}:${cause.column}` : ''
}

/**
 * Sets a key in the user's own file, or removes it with null. Keeps comments, order and all other keys. Returns the
 * file's path.
 */
export async function writeUserKey(env: NodeJS.ProcessEnv, key: KeyName, value: string | null): Promise<string> {
  const file = locateFiles(env, '/').user
  // An unreadable file causes a refusal here, before any write.
  const before = (await readUserFile({ ...env, ONESHOT_CONFIG: file }, { mayBeAbsent: true })) ?? {}
  const { [key]: _, ...others } = before
  const expected = value === null ? others : { ...others, [key]: toTomlValue(key, value) }
  readTable('user', file, value === null ? {} : { [key]: value })
  const old = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : ''
  const text = setKey(old, key, value === null ? null : `${key} = ${JSON.stringify(toTomlValue(key, value))}`)
  if (!isDeepStrictEqual({ ...(await parseToml(file, text)) }, expected))
    throw refusal('config-invalid', `${file} cannot be changed safely by a program`, 'oneshot config edit')
  replaceUserFile(file, text)
  return file
}

function toTomlValue(key: KeyName, value: string): string | boolean {
  return typeof KEYS[key].fallback === 'boolean' ? KEYS[key].read(value) === true : value
}

/** Inserts a new key before the first table. */
function setKey(text: string, key: KeyName, line: string | null): string {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n')
  const firstTable = lines.findIndex(known => /^\s*\[/.test(known))
  const end = firstTable < 0 ? lines.length : firstTable
  const at = lines.slice(0, end).findIndex(known => new RegExp(`^\\s*"?${key}"?\\s*=`).test(known))
  const fresh = line === null ? [] : [line]
  if (at >= 0) lines.splice(at, 1, ...fresh)
  else {
    const last = lines.slice(0, end).findLastIndex(known => known.trim() !== '')
    lines.splice(last + 1, 0, ...fresh, ...(last + 1 === end && end < lines.length ? [''] : []))
  }
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}

/** Replaces the file atomically. A link stays a link; the permissions stay unchanged. */
function replaceUserFile(file: string, text: string): void {
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  const stat = fs.statSync(file, { throwIfNoEntry: false })
  const target = stat === undefined ? file : fs.realpathSync(file)
  const draft = `${target}.${process.pid}.tmp`
  fs.writeFileSync(draft, text, { mode: stat === undefined ? 0o600 : stat.mode & 0o777, flag: 'wx' })
  fs.renameSync(draft, target)
}
