import fs from 'node:fs'
import type { Instant } from '../../../lib/time.ts'
import { hasCode } from '../../../lib/errors.ts'
import { type JsonObject, parseObject } from './json.ts'

/** The names in a folder of some program; none when it is not there. */
export function listNames(folder: string): string[] {
  try {
    return fs.readdirSync(folder)
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ENOTDIR')) return []
    throw cause
  }
}

/** Without symbolic links. What is not there, or no longer, keeps its name: whoever uses it will say what is wrong. */
export function realPath(file: string): string {
  try {
    return fs.realpathSync(file)
  } catch {
    return file
  }
}

/** What a file of settings says; null when it says nothing, or nothing that its own program could read either. */
export function readJsonFile(file: string): JsonObject | null {
  try {
    return parseObject(fs.readFileSync(file, 'utf8'))
  } catch {
    return null
  }
}

/** When a file was last written. */
export function modifiedAt(file: string): Instant {
  return Math.floor(fs.statSync(file).mtimeMs)
}
