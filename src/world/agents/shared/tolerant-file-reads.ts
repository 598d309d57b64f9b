import fs from 'node:fs'
import type { Instant } from '../../../lib/time.ts'
import { hasCode } from '../../../lib/errors.ts'
import { type JsonObject, parseObject } from './tolerant-json.ts'

/** Returns the names in a program's folder, or an empty list if the folder does not exist. */
export function listNames(folder: string): string[] {
  try {
    return fs.readdirSync(folder)
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ENOTDIR')) return []
    throw cause
  }
}

/** Resolves symbolic links. A missing file keeps its path: the code that uses it will report the error. */
export function realPath(file: string): string {
  try {
    return fs.realpathSync(file)
  } catch {
    return file
  }
}

/**
 * Reads a settings file; returns null when it is missing, or so broken that its own program could not read it either.
 */
export function readJsonFile(file: string): JsonObject | null {
  try {
    return parseObject(fs.readFileSync(file, 'utf8'))
  } catch {
    return null
  }
}

/** Returns the time of the last write to a file. */
export function modifiedAt(file: string): Instant {
  return Math.floor(fs.statSync(file).mtimeMs)
}
