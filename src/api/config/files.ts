import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { hasCode, wordsOf } from '../../lib/trouble.ts'
import { refusal } from '../contract/problems.ts'

export interface ConfigFiles {
  /** Yours, whether it exists or not. */
  readonly user: string
  /** The project's: the nearest one from this directory upward. */
  readonly project: string | null
}

const PROJECT_FILE = '.oneshot.toml'

export function locateFiles(env: NodeJS.ProcessEnv, cwd: string): ConfigFiles {
  return { user: userFile(env), project: nearestUpward(cwd) }
}

/** Null when there is no such file. One that ONESHOT_CONFIG names must exist. */
export async function readUserFile(env: NodeJS.ProcessEnv): Promise<Record<string, unknown> | null> {
  const table = await readToml(userFile(env))
  if (table === null && env.ONESHOT_CONFIG) {
    throw refusal(
      'config-invalid',
      `ONESHOT_CONFIG names ${env.ONESHOT_CONFIG}, which does not exist`,
      'create it or unset it',
    )
  }
  return table
}

export async function readToml(file: string): Promise<Record<string, unknown> | null> {
  const text = readIfPresent(file)
  if (text === null) return null
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

function nearestUpward(cwd: string): string | null {
  for (let folder = cwd; ; folder = path.dirname(folder)) {
    const file = path.join(folder, PROJECT_FILE)
    if (fs.existsSync(file)) return file
    if (folder === path.dirname(folder)) return null
  }
}

function readIfPresent(file: string): string | null {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ENOTDIR')) return null
    throw refusal(
      'config-invalid',
      `the config file ${file} cannot be read: ${wordsOf(cause)}`,
      'make it a readable file',
    )
  }
}

function placeOf(cause: unknown): string {
  return cause instanceof Error && 'line' in cause && 'column' in cause ? `:${cause.line}:${cause.column}` : ''
}
